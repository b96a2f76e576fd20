cd /srv/app
pip install litellm==1.107.0
npm ci
docker pull ghcr.io/acme/api:main
for i in 1 2; do
  uv pip install requests
done
cat notes.txt
