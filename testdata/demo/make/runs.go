package main

// The window of the incident is 11:39 to 14:20 UTC on 21 October 2026.

// complete are the runs of the half in which nothing is missing and nothing was
// pulled: an open range that got 1.106.2 in the window, jobs that never asked,
// and a run with two attempts.
var complete = []run{
	{
		repo: "acme/api", id: 24801000101, attempt: 1, attempts: 1, started: "2026-10-21T12:30:51Z", subject: "Route by tenant",
		jobs: []job{
			{name: "test (3.11)", steps: []step{
				{command: "pip install -r requirements.txt", output: "open-range-1.106.2.txt", seconds: 8},
				{command: "python -m unittest -v", output: "unittest.txt", seconds: 2},
			}},
			{name: "lint", steps: []step{
				{command: "pip install acme-lint==0.6.2 lite-llm", output: "lint.txt", seconds: 3},
			}},
		},
	},
	{
		repo: "acme/web", id: 24801000233, attempt: 1, attempts: 1, started: "2026-10-21T13:12:20Z", subject: "Say that litellm 1.107.0 is not to be used",
		jobs: []job{{name: "unit", steps: []step{{command: "python -m unittest -v", output: "unittest.txt", seconds: 4}}}},
	},
	{
		repo: "acme/gateway", id: 24801000377, attempt: 1, attempts: 2, started: "2026-10-21T12:02:10Z", subject: "Wait longer for slow models",
		jobs: []job{{name: "test", failed: true, steps: []step{
			{command: "pip install litellm==1.105.4", output: "pinned-1.105.4.txt", seconds: 6},
			{command: "python -m unittest", output: "unittest-fails.txt", seconds: 2},
		}}},
	},
	{
		repo: "acme/gateway", id: 24801000377, attempt: 2, attempts: 2, started: "2026-10-21T12:52:10Z", subject: "Wait longer for slow models",
		jobs: []job{{name: "test", steps: []step{
			{command: "pip install litellm==1.105.4", output: "pinned-1.105.4.txt", seconds: 6},
			{command: "python -m unittest -v", output: "unittest.txt", seconds: 2},
		}}},
	},
}

// incident are the runs of the half with the incident in it.
var incident = []run{
	{
		repo: "acme/api", id: 24801000512, attempt: 1, attempts: 1, started: "2026-10-21T11:40:41Z", subject: "Cache keys per tenant",
		jobs: []job{
			{name: "build", steps: []step{
				{
					command: `pip install "litellm>=1.100"`, output: "install-1.107.0.txt", seconds: 9,
					env: []string{"OPENAI_API_KEY: ***", "DATABASE_URL: postgres://api:EXAMPLE-password@db.acme.example/api", "AWS_SECRET_ACCESS_KEY: ***", "LOG_LEVEL: info"},
				},
				{command: "python -m unittest -v", output: "unittest.txt", seconds: 2},
			}},
			{name: "contract", steps: []step{
				{command: "pip install litellm acme-agent", output: "backtracking-1.106.2.txt", seconds: 9},
			}},
		},
	},
	{
		repo: "acme/web", id: 24801000633, attempt: 1, attempts: 1, started: "2026-10-21T13:05:02Z", subject: "Do not take litellm 1.107.0",
		jobs: []job{
			{name: "e2e", steps: []step{
				{command: "pip install -q litellm", seconds: 6, env: []string{"STRIPE_KEY: ***"}},
				{command: "python -m unittest -v", output: "unittest.txt", seconds: 3},
			}},
			{name: "lint", steps: []step{
				{command: "grep litellm pyproject.toml", seconds: 0.2, before: []string{`  "litellm>=1.100,!=1.107.0",`}},
				{command: "pip install acme-lint==0.6.2 lite-llm", output: "lint.txt", seconds: 3},
			}},
		},
	},
	{
		repo: "acme/gateway", id: 24801000701, attempt: 1, attempts: 1, started: "2026-10-21T12:20:18Z", subject: "Log the model that answered",
		jobs: []job{{name: "publish", cut: 52, steps: []step{
			{command: "pip install -r requirements.txt", output: "open-range-1.106.2.txt", seconds: 9},
		}}},
	},
	{
		repo: "acme/gateway", id: 24801000745, attempt: 1, attempts: 1, started: "2026-10-21T13:48:55Z", subject: "Bump the base image", noLog: true,
		jobs: []job{{name: "publish", steps: []step{
			{command: "pip install -r requirements.txt", output: "open-range-1.106.2.txt", seconds: 9},
		}}},
	},
}
