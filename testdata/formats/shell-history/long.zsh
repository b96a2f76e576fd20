: 1792574000:12000;pip install -q litellm
: 1792590000:59;pip install -q openai
