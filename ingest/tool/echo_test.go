package tool

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestShellCommands(t *testing.T) {
	for _, c := range []struct {
		line string
		want string // words joined by "·", commands by " | ", muted ones end in "!"
		here string
		open bool
	}{
		{line: `pip install -q 'litellm>=1.100,<2' "a b"`, want: `pip·install·-q·litellm>=1.100,<2·a b`},
		{line: `cd /srv && pip install x; (npm ci) || true | tee log`, want: `cd·/srv | pip·install·x | npm·ci | true | tee·log`},
		{line: `pip install x >/dev/null 2>&1`, want: `pip·install·x!`},
		{line: `pip install x &> pip.log`, want: `pip·install·x!`},
		{line: `pip install x 2>/dev/null`, want: `pip·install·x`},
		{line: `pip install x >&2`, want: `pip·install·x`},
		{line: `pip install x 1>>log y`, want: `pip·install·x·y!`},
		{line: `pip install x2>log`, want: `pip·install·x2!`},
		{line: `pip install x # and why`, want: `pip·install·x`},
		{line: `pip install git+https://h.example/x#egg=x`, want: `pip·install·git+https://h.example/x#egg=x`},
		{line: `pip install $(cat list | head) "${A}" y`, want: "pip·install·$·$" + `{A}·y | cat·list! | head!`},
		{line: `V="a $(pip install x) b" c`, want: "V=a $ b·c | pip·install·x!"},
		{line: "pip install `cat x; ls` y", want: "pip·install·`·y | cat·x! | ls!"},
		{line: `cat <<'EOF' > Dockerfile`, want: `cat!`, here: `EOF`},
		{line: `python -c "import x`, want: "python·-c·import x", open: true},
		{line: `pip install \`, want: "pip·install", open: true},
		{line: `C:\Python312\python.exe -m pip install x`, want: `C:\Python312\python.exe·-m·pip·install·x`},
		{line: `echo a\ b`, want: `echo·a b`},
		{line: ``, want: ``},
	} {
		commands, here, open := shellCommands(c.line)
		var got []string
		for _, cmd := range commands {
			s := strings.Join(cmd.words, "·")
			if cmd.muted {
				s += "!"
			}
			got = append(got, s)
		}
		if s := strings.Join(got, " | "); s != c.want || here != c.here || open != c.open {
			t.Errorf("%s: got %s, here %q, open %v; want %s, %q, %v", c.line, s, here, open, c.want, c.here, c.open)
		}
	}
}

func TestAsk(t *testing.T) {
	for line, want := range map[string]string{
		"pip3.12 install -Uq litellm":                            "pip quiet pkg:pypi/litellm",
		"pip install -rreq.txt acme-lint":                        "pip pkg:pypi/acme-lint +",
		"pip -q install litellm":                                 "pip quiet pkg:pypi/litellm",
		"pip install -t out --platform any litellm":              "pip pkg:pypi/litellm",
		"pip install https://h.example/p/litellm-1.107.0.tar.gz": "pip pkg:pypi/litellm@1.107.0",
		"pip install git+https://h.example/x.git":                "pip +",
		"pip install requirements.txt":                           "pip +",
		"pip uninstall -y litellm":                               "pip none",
		"pip config list":                                        "",
		"pipeline install litellm":                               "",
		"sudo -u ci pip install litellm":                         "pip pkg:pypi/litellm",
		"if ! A=b timeout -k 5 60 pip install litellm":           "pip pkg:pypi/litellm",
		"uv --quiet pip install litellm==1.106.2":                "uv quiet pkg:pypi/litellm@1.106.2",
		"uv tool install acme-cli@latest":                        "uv pkg:pypi/acme-cli",
		"uv tool list":                                           "",
		"uv sync --all-extras":                                   "uv +",
		"uv run --with litellm,openai==1.99.9 --python 3.12 x":   "uv pkg:pypi/litellm pkg:pypi/openai@1.99.9",
		"uv run pytest -q":                                       "uv + loud",
		"uv run -q pytest":                                       "uv quiet + loud",
		"uv lock":                                                "uv none",
		"uvx --from 'litellm[proxy]' litellm":                    "uv pkg:pypi/litellm",
		"pipx run --spec acme-cli==2.0 acme":                     "pipx pkg:pypi/acme-cli@2.0",
		"pipx run --spec acme-cli==2.0 acme --version":           "pipx pkg:pypi/acme-cli@2.0",
		"pipx run acme-cli -h":                                   "pipx pkg:pypi/acme-cli",
		"pipx run --help acme-cli":                               "",
		"pipx --version":                                         "",
		"pnpm dlx acme-app@1.2.3 --version":                      "pnpm pkg:npm/acme-app@1.2.3",
		"yarn dlx -p acme-lib acme --help":                       "yarn pkg:npm/acme-lib",
		"bun x acme-app -v":                                      "bun pkg:npm/acme-app",
		"pnpm --silent dlx acme-app -h":                          "pnpm quiet pkg:npm/acme-app",
		"pnpm dlx --help":                                        "",
		"npm exec acme-app --version":                            "",
		"npm exec -- acme-app --version":                         "npx pkg:npm/acme-app",
		"pnpm create acme web --help":                            "pnpm create pkg:npm/create-acme",
		"apptainer exec -B /data:/data docker://docker.io/acme/app:1.2 acme --version": "apptainer docker.io/acme/app:1.2 loud",
		"apptainer exec --help":                                   "",
		"docker compose run -e A=b app acme --help":               "docker +",
		"docker compose run --help app":                           "",
		"poetry self add acme-plugin":                             "poetry pkg:pypi/acme-plugin",
		"pipenv install":                                          "pipenv +",
		"pipenv install litellm":                                  "pipenv pkg:pypi/litellm",
		"conda install -c conda-forge -n app python=3.11 litellm": "conda pkg:conda/python pkg:conda/litellm",
		"npm i":         "npm +",
		"npm run build": "",
		"npm install foo@npm:@acme/cli@1.2.3 bar@npm:react": "npm pkg:npm/%40acme/cli@1.2.3 pkg:npm/react",
		"npm install @acme/cli@1.2.3 ./x react@18":          "npm pkg:npm/%40acme/cli@1.2.3 pkg:npm/react +",
		"yarn --version":                        "",
		"npx --no-install tsc":                  "",
		"apt-get -qq -y install curl=7.88.1-10": "apt pkg:deb/curl@7.88.1-10",
		"apt-get install -y g++ libx:amd64":     "apt pkg:deb/g++ pkg:deb/libx",
		"gem install rake --version 13.0.6":     "gem pkg:gem/rake@13.0.6",
		"go build ./...":                        "",
		"cargo build":                           "",
		"docker --context ci image pull --platform linux/arm64 redis": "docker docker.io/library/redis:latest",
		"docker run --rm --name=x -p 80:80 ghcr.io/acme/api:1.4 run":  "docker ghcr.io/acme/api:1.4",
		"docker run $IMAGE":                                   "docker + loud",
		"docker run --unknown value redis":                    "docker + loud",
		"docker build -t x .":                                 "docker image pypi npm any loud",
		"docker buildx build --progress=quiet .":              "docker quiet image pypi npm any loud",
		"docker compose -f dev.yml up -d":                     "docker +",
		"docker compose logs":                                 "",
		"docker-compose pull -q":                              "docker-compose quiet +",
		"docker compose build":                                "docker image pypi npm any loud",
		"tox -e py312":                                        "tox quiet +",
		"tox --version":                                       "",
		"nox -l":                                              "",
		"hatch run test":                                      "hatch quiet +",
		"hatch version":                                       "",
		"rye sync":                                            "uv +",
		"pixi install":                                        "pixi quiet + pypi",
		"pre-commit run -a":                                   "pre-commit pypi npm loud",
		"conda env create -q -f env.yml":                      "conda quiet + pypi",
		"$PIP install litellm":                                "pip pkg:pypi/litellm",
		"${UV} sync":                                          "uv +",
		"corepack yarn install":                               "yarn +",
		"docker exec c pip install litellm":                   "",
		"pnpm exec eslint .":                                  "",
		"yarn exec pip install litellm":                       "",
		"yarn workspace web dlx acme-app --help":              "yarn pkg:npm/acme-app",
		"pipx runpip acme install -q boto3":                   "pip quiet pkg:pypi/boto3",
		"yarn global add acme-app":                            "yarn pkg:npm/acme-app",
		"podman-remote pull -q docker.io/acme/app:2":          "podman quiet docker.io/acme/app:2",
		"buildah copy --from docker.io/acme/app:2 c /a /b":    "buildah docker.io/acme/app:2 loud",
		"k3s ctr images pull docker.io/acme/app:2":            "ctr docker.io/acme/app:2 loud",
		"microk8s kubectl run x --image=docker.io/acme/app:2": "kubectl docker.io/acme/app:2 loud",
		"oc import-image x --from=docker.io/acme/app:2":       "kubectl docker.io/acme/app:2 loud",
		"oc new-app docker.io/acme/app:2":                     "kubectl docker.io/acme/app:2 loud",
		"oc new-app https://h.example/acme/app":               "",
		"docker sbom docker.io/acme/app:2":                    "docker docker.io/acme/app:2 loud",
		"docker plugin install docker.io/acme/app:2":          "docker docker.io/acme/app:2 loud",
		"docker plugin ls":                                    "",
		"snyk container test docker.io/acme/app:2":            "snyk docker.io/acme/app:2 loud",
		"snyk test":                                           "",
		"toolbox create -i docker.io/acme/app:2":              "toolbox docker.io/acme/app:2 loud",
		"distrobox enter dev":                                 "",
		"img pull docker.io/acme/app:2":                       "img docker.io/acme/app:2 loud",
	} {
		commands, _, _ := shellCommands(line)
		name, args := unwrap(commands[0].words)
		got := ""
		if a := askOf(name, args); a != nil {
			got = a.tool
			if a.quiet {
				got += " quiet"
			}
			for _, it := range a.items {
				got += " " + it.Artifact
			}
			if a.unnamed {
				got += " +"
			}
			for _, kind := range a.others {
				got += " " + kind
			}
			if a.none {
				got += " none"
			}
			if a.loud {
				got += " loud"
			}
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

func TestEcho(t *testing.T) {
	for _, c := range []struct {
		about, text string
		want        []string
	}{
		{"what a here-document writes is no command", "> cat > Dockerfile <<EOF\n> RUN pip install -q evil\n> EOF\n> pip install -q litellm", []string{"opaque 4 pkg:pypi/litellm"}},
		{"names that come from elsewhere", "> cat req.txt | xargs -n 1 pip install -q", []string{"opaque 1 pkg:pypi"}},
		{"once for each file", "> find . -name 'req*.txt' -exec pip install -q -r {} \\;", []string{"opaque 1 pkg:pypi"}},
		{"behind a recorder", "> script -qc 'pip install -q litellm' /dev/null", []string{"opaque 1 pkg:pypi/litellm"}},
		{"behind a lock", "> flock /run/l pip install -q litellm", []string{"opaque 1 pkg:pypi/litellm"}},
		{"a project's own script", "> python3 setup.py develop", []string{"opaque 1 pkg:pypi"}},
		{"what only packs asks for nothing", "> python3 setup.py sdist\n> ls | xargs rm", nil},
		{"a package file by its address", "> wget -q https://mirror.acme.example/packages/litellm-1.107.0-py3-none-any.whl", []string{"require 1 pkg:pypi/litellm@1.107.0"}},
		{"quotes over several lines", "> python -c '\n> import x; pip install -q evil\n> '\n> pip install -q litellm", []string{"opaque 4 pkg:pypi/litellm"}},
		{"a command over several lines", "> pip install -q \\\n>   litellm", []string{"opaque 2 pkg:pypi/litellm"}},
		{"a script that is traced too counts once", "> pip install -q litellm\n+ pip install -q litellm", []string{"opaque 1 pkg:pypi/litellm"}},
		{"a traced command given twice counts twice", "+ pip install -q litellm\n+ pip install -q litellm", []string{"opaque 1 pkg:pypi/litellm", "opaque 2 pkg:pypi/litellm"}},
		{"RUN of a Dockerfile", "> RUN --mount=type=cache,target=/c pip install -q litellm", []string{"opaque 1 pkg:pypi/litellm"}},
		{"a container of a pulled image asks for nothing more", "> docker pull redis:7\n> docker run -d redis:7", []string{"require 1 docker.io/library/redis:7"}},
		{"a here-document that a shell reads is a script", "> bash -eux <<EOF\n> pip install -q litellm\n> EOF", []string{"opaque 2 pkg:pypi/litellm"}},
		{"a script that is fetched and run", "> curl -fsSL https://acme.example/x | sudo -E bash -", []string{"opaque 1 pkg:generic/acme.example/x"}},
		{"through a filter", "> wget -qO- https://acme.example/x.gz | gunzip | sh -s -- --yes", []string{"opaque 1 pkg:generic/acme.example/x.gz"}},
		{"as a file of a process", "> bash <(curl -s https://acme.example/x)", []string{"opaque 1 pkg:generic/acme.example/x"}},
		{"as a word", "> sh -c \"$(curl -fsSL https://acme.example/x)\"", []string{"opaque 1 pkg:generic/acme.example/x"}},
		{"a file that is kept", "> curl -Os https://codecov.io/bash\n> wget https://acme.example/tools/setup.sh\n> curl -o x.tgz https://acme.example/x.tgz\n> curl -s https://acme.example/health\n> wget -O- http://127.0.0.1:8080/ready", []string{"require 1 pkg:generic/codecov.io/bash", "require 2 pkg:generic/acme.example/tools/setup.sh"}},
		{"as a file", "> curl -sSL https://acme.example/x -o /tmp/x.sh\n> chmod +x /tmp/x.sh && /tmp/x.sh", []string{"require 1 pkg:generic/acme.example/x", "opaque 2 pkg:generic/acme.example/x"}},
		{"a traced pipe stands on two lines", "+ curl -fsSL https://acme.example/x\n+ sh", []string{"opaque 2 pkg:generic/acme.example/x"}},
		{"what is fetched is only read", "> curl -s https://acme.example/x | python3 -m json.tool\n> V=$(curl -s https://acme.example/v)\n> curl -s https://acme.example/x | tar xz || sh -c true", nil},
		{"a script that a here-document wrote", "> cat > x.sh <<EOF\n> pip install -q litellm\n> EOF\n> sh x.sh", []string{"opaque 4 pkg:pypi/litellm"}},
		{"a here-document that nobody runs", "> cat > x.sh <<EOF\n> pip install -q litellm\n> EOF\n> cat x.sh", nil},
		{"a program that calls pip", "+ python3 -c 'import subprocess, sys; subprocess.check_call([sys.executable, \"-m\", \"pip\", \"install\", \"-q\", \"litellm\"])'", []string{"opaque 1 pkg:pypi/litellm"}},
		{"an example in a text is indented", "    $ pip install litellm==1.107.0", nil},
		{"a command in a substitution", "> X=$(pip install litellm)", []string{"opaque 1 pkg:pypi/litellm"}},
		{"a command in a string", "> eval \"pip install -q litellm\"", []string{"opaque 1 pkg:pypi/litellm"}},
		{"a command in a container", "> docker compose exec -T web pip install -q litellm", []string{"opaque 1 pkg:pypi/litellm"}},
		{"the program of an image", "> docker run --rm -v $PWD:/app composer:2 install -q\n> docker run --rm -v $PWD:/app acme/composer@sha256:0011 list", []string{"require 1 docker.io/library/composer:2", "opaque 1 pkg:composer"}},
		{"wrappers of containers", "> ddev composer install -q\n> ./vendor/bin/sail composer update -q\n> symfony composer validate", []string{"opaque 1 pkg:composer", "opaque 2 pkg:composer"}},
		{"a command in a new container", "> docker run --rm -v $PWD:/w python:3.12 sh -c 'pip install -q litellm'", []string{"require 1 docker.io/library/python:3.12", "opaque 1 pkg:pypi/litellm"}},
		{"a command on another host", "> ssh -p 22 web1 pip install -q litellm", []string{"opaque 1 pkg:pypi/litellm"}},
		{"a quoted command on another host", "> ssh web1 'cd /srv && pip install -q litellm'", []string{"opaque 1 pkg:pypi/litellm"}},
		{"a variable that is called like an interpreter", "> $PYTHON -m pip install -q litellm", []string{"opaque 1 pkg:pypi/litellm"}},
		{"a build that prints nothing", "> docker build -q .", []string{"opaque 1 pkg:oci"}},
		{"a build of which nothing is printed", "> docker build .\n> az acr build -r acme .\n> docker compose build", []string{"opaque 1 pkg:oci", "opaque 2 pkg:oci", "opaque 3 pkg:oci"}},
		{"builds that need not run", "> test -f Dockerfile && docker build .\n> if true; then docker build .; fi\n> b() {\n>   docker build .\n> }\n> [ -n \"$T\" ] || exit 0\n> docker build .", nil},
		{"a build that is only shown", "> docker buildx bake --print", nil},
		{"a build elsewhere that nobody waits for", "> gcloud builds submit --async .", []string{"opaque 1 pkg:oci"}},
		{"what a build needs", "> python -m build\n> uv build\n> hatch build\n> python -m build --no-isolation", []string{"opaque 1 pkg:pypi", "opaque 2 pkg:pypi", "opaque 3 pkg:pypi"}},
		{"short names of npm", "> npm it\n> npm cit\n> npm isntall", []string{"opaque 1 pkg:npm", "opaque 2 pkg:npm", "opaque 3 pkg:npm"}},
		{"packages that npm fetches to run or to keep", "> npm pack chalk\n> npm pack\n> npm init vite@latest app\n> npm init -y\n> yarn create @acme/app web", []string{"require 1 pkg:npm/chalk", "require 3 pkg:npm/create-vite", "require 5 pkg:npm/%40acme/create-app", "opaque 1 pkg:npm/chalk", "opaque 3 pkg:npm/create-vite", "opaque 5 pkg:npm/%40acme/create-app"}},
		{"tools that install for a while", "> pip-audit -r requirements.txt\n> pex -r requirements.txt -o app.pex\n> pipx upgrade-all\n> pip-audit", []string{"opaque 1 pkg:pypi", "opaque 2 pkg:pypi", "opaque 3 pkg:pypi"}},
		{"a script whose output nobody sees", "> ./setup.sh > /dev/null 2>&1", []string{"opaque 1 pkg:pypi"}},
		{"a script whose output is kept", "> ./version.sh > version.txt", nil},
		{"a script whose output is a word", "> V=$(./version.sh)", nil},
		{"an environment of pre-commit", "> pre-commit run -a\n[INFO] Installing environment for https://h.example/hooks.", []string{"opaque 2 pkg:pypi"}},
		{"a task whose recipe is shown", "> make lint\nruff check .\nAll checks passed!", nil},
		{"recipes of Go, and of what is put in place", "> make build\ngo build ./...\n> make install\ninstall -m 755 api /usr/local/bin", nil},
		{"a task that is called after what it installs, and shows another command", "> make deps\nmkdir -p build\ninstalling dependencies", []string{"opaque 1 pkg:any"}},
		{"and one that shows how it installs", "> make setup-dev\nmkdir -p build\npython3 -m pip install -r requirements.txt", []string{"opaque 3 pkg:pypi"}},
		{"a task of which nothing is shown", "> make lint\nAll checks passed!", []string{"opaque 1 pkg:any"}},
		{"a task that is told to be silent", "> make -s lint\nruff check .", []string{"opaque 1 pkg:any"}},
		{"a recipe that runs a script", "> make lint\n./scripts/lint.sh", []string{"opaque 2 pkg:any"}},
		{"a recipe that fetches a script", "> make tools\ncurl -s https://acme.example/x | sh", []string{"opaque 2 pkg:generic/acme.example/x"}},
		{"a task that had nothing to do", "> make all\nmake: Nothing to be done for 'all'.", nil},
		{"a silent one", "> npm run -s lint\n\n", []string{"opaque 1 pkg:any"}},
		{"a script of yarn's", "> yarn lint\nyarn run v1.22.22\n$ eslint .", nil},
		{"a task that says what it runs", "> task lint\ntask: [lint] ruff check .", nil},
		{"a script of the project", "> bash deploy.sh\n> ./scripts/ci\n> . ./env.sh\nok", []string{"opaque 1 pkg:any", "opaque 2 pkg:any", "opaque 3 pkg:any"}},
		{"a script that traces", "> bash -x deploy.sh\n+ ruff check .", nil},
		{"a script inside a trace", "+ ./deploy.sh\n+ ruff check .", []string{"opaque 1 pkg:any"}},
		{"a script of the runner", "> /usr/bin/bash /home/vsts/work/_temp/6f0d.sh", nil},
		{"notebooks", "> jupyter nbconvert --execute a.ipynb\n> papermill a.ipynb b.ipynb\n> jupyter nbconvert --to html a.ipynb\n> pytest -q", []string{"opaque 1 pkg:any", "opaque 2 pkg:any"}},
		{"programs that install without a word", "> meltano install\n> maturin develop\n> mlflow run .\n> mlflow run . --env-manager local\n> maturin build", []string{"opaque 1 pkg:pypi", "opaque 2 pkg:pypi", "opaque 3 pkg:pypi"}},
		{"tools of mise", "> mise install\n> mise use -g python@3.12\n> mise use pipx:aider-chat", []string{"opaque 1 pkg:pypi", "opaque 3 pkg:pypi/aider-chat"}},
		{"places that build", "> fly deploy\n> fly deploy --image x\n> vercel deploy --prebuilt\n> gcloud app deploy", []string{"require 2 docker.io/library/x:latest", "opaque 1 pkg:oci", "opaque 4 pkg:oci"}},
		{
			"images that are named for a place or by a file", "> gcloud run deploy api --image acme/api:1\n> az containerapp update -n x --image acme/api:2\n> docker service update --image acme/api:3 api\n> docker stack deploy -c x.yml api\n> nerdctl -n k8s.io run -d acme/api:4\n> skopeo sync --src yaml --dest dir i.yml out\n> docker manifest inspect acme/api:5\n> enroot import docker://acme/api:6",
			[]string{"require 1 docker.io/acme/api:1", "require 2 docker.io/acme/api:2", "require 3 docker.io/acme/api:3", "require 5 docker.io/acme/api:4", "require 7 docker.io/acme/api:5", "require 8 docker.io/acme/api:6", "opaque 4 pkg:oci", "opaque 6 pkg:oci"},
		},
		{"remotes that build", "> git push heroku main\n> git push origin main\n> modal deploy app.py\n> modal token set", []string{"opaque 1 pkg:oci", "opaque 3 pkg:oci"}},
		{"a program that is looked for", "> $(which pip) install -q litellm\n> `command -v pip3` install -q litellm", []string{"opaque 1 pkg:pypi/litellm", "opaque 2 pkg:pypi/litellm"}},
		{"what terraform runs here", "null_resource.deps (local-exec): Executing: [\"/bin/sh\" \"-c\" \"pip install -q litellm\"]", []string{"opaque 1 pkg:pypi/litellm"}},
		{"node_modules that no line made", "> node_modules/.bin/eslint .", []string{"opaque 1 pkg:npm"}},
		{"an environment that no line made", "> source .venv/bin/activate\n> .venv/bin/pytest", []string{"opaque 1 pkg:pypi"}},
		{"an environment that a line made", "> python3 -m venv .venv\n> source .venv/bin/activate\n> .venv/bin/pytest", nil},
		{"environments of the machine", "> source /opt/venv/bin/activate\n> ~/venv/bin/pytest\n> $VIRTUAL_ENV/bin/pytest", nil},
		{"what sets up a shell", "> . ~/.bashrc\n> . \"$HOME/.cargo/env\"", nil},
		{"programs of the project", "> ./bin/server --version\n> python -m acme.selftest\n> python scripts/report.py\n> node scripts/build.js\n> go run ./cmd/api\n> python -m pytest\n> python manage.py migrate\n> python -c 'import acme; acme.main()'", nil},
		{"package managers without a reader", "> ./gradlew test\n> mvn -o verify\n> composer install --no-dev\n> composer run-script test\n> dotnet build --no-restore\n> dotnet restore", []string{"opaque 1 pkg:maven", "opaque 3 pkg:composer", "opaque 4 pkg:any", "opaque 6 pkg:nuget"}},
		{"names that they are given", "> composer require -q laravel-lang/lang:^15.0\n> php composer.phar install\n> winget install --id Acme.Tool -e -v 1.2.3", []string{"require 3 pkg:winget/Acme.Tool@1.2.3", "opaque 1 pkg:composer/laravel-lang/lang", "opaque 2 pkg:composer", "opaque 3 pkg:winget/Acme.Tool@1.2.3"}},
		{"a file of a release", "> curl -sSfL https://github.acme.example/acme/tool/releases/download/v1.2.3/tool_linux.tar.gz | tar xz", []string{"require 1 pkg:github/acme/tool@v1.2.3"}},
		{"a script without a scheme", "> curl -s tools.acme.example/sh/setup | bash", []string{"opaque 1 pkg:generic/tools.acme.example/sh/setup"}},
		{"cargo, told to be quiet", "> cargo build\n> cargo +nightly test -q", []string{"opaque 2 pkg:cargo"}},
		{
			"programs that are called after an installation, or are the project's CI", "> python3 scripts/install_deps.py\n> python ci/prepare.py\n> ./tools/ci.py\n> python -m tools.setup_env\n> npx tsx ci/run.ts\n> go run ./ci\n> cargo xtask test\n> python -c 'import runpy; runpy.run_path(\"x.py\")'",
			[]string{"require 5 pkg:npm/tsx", "opaque 1 pkg:any", "opaque 2 pkg:any", "opaque 3 pkg:any", "opaque 4 pkg:any", "opaque 5 pkg:npm/tsx", "opaque 5 pkg:any", "opaque 6 pkg:any", "opaque 7 pkg:any", "opaque 8 pkg:any"},
		},
		{"a command that a variable holds", "> $INSTALL_CMD\n> eval \"$X\"\n> $PYTHON -V", []string{"opaque 1 pkg:any", "opaque 2 pkg:any"}},
		{"a variable whose value is shown", "> CMD='pip install -q litellm'\n> $CMD", []string{"opaque 2 pkg:pypi/litellm"}},
		{"an alias", "> alias p='pip install -q'\n> p litellm", []string{"opaque 2 pkg:pypi/litellm"}},
		{"a function", "> function p { pip install -q litellm; }", []string{"opaque 1 pkg:pypi/litellm"}},
		{"wrappers that nobody knows", "> coverage run -m pip install -q a1\n> op run -- pip install -q a2\n> vagga _run app 'pip install -q a3'", []string{"opaque 1 pkg:pypi/a1", "opaque 2 pkg:pypi/a2", "opaque 3 pkg:pypi/a3"}},
		{"scripts behind wrappers", "> xvfb-run -a ./ci.sh\n> doppler run -- ./ci.sh\n> sudo chroot root bash /setup.sh\n> aws-vault exec prod -- make -s\n> parallel ::: ./a.sh ./b.sh\n> prettier --check -- ./src\n> shellcheck -s bash ci.sh", []string{"opaque 1 pkg:any", "opaque 2 pkg:any", "opaque 3 pkg:any", "opaque 4 pkg:any", "opaque 5 pkg:any"}},
		{"words that are split, and a text that a shell reads", "> env -S 'A=b pip install -q a1'\n> bash -s <<< \"pip install -q a2\"\n> grep x <<< 'pip install -q a3'\n> python3 < ci.py", []string{"opaque 1 pkg:pypi/a1", "opaque 2 pkg:pypi/a2", "opaque 4 pkg:any"}},
		{"environments of all kinds", "> nix develop -c ./ci.sh\n> nix-shell -p x --run 'pip install -q a2'\n> devbox install\n> nix flake show\n> asdf install golang 1.25\n> mise x pipx:ruff@latest -- ruff check\n> mise tasks\n> mise ci", []string{"opaque 1 pkg:pypi", "opaque 1 pkg:any", "opaque 2 pkg:pypi", "opaque 2 pkg:pypi/a2", "opaque 3 pkg:pypi", "opaque 6 pkg:pypi/ruff", "opaque 8 pkg:any"}},
		{
			"lines that tell of what is not shown", "-----> Installing requirements with pip\n[INFO] --- frontend:1.15.0:npm (npm ci) @ web ---\n[INFO] Running 'npm ci' in /w\n[INFO] --- exec-maven-plugin:3.1.0:java (x) @ api ---",
			[]string{"opaque 1 pkg:pypi", "opaque 2 pkg:npm", "opaque 3 pkg:npm"},
		},
		{"what a development container has run", "Running the postCreateCommand from devcontainer.json...\nRunning the tests", []string{"opaque 1 pkg:any"}},
		{"what a stack bundles, and what is put on a machine", "Bundling asset Web/Fn/Code/Stage...\naws_instance.web: Provisioning with 'remote-exec'...", []string{"opaque 1 pkg:any"}},
		{"a program that terraform runs here", "null_resource.x (local-exec): Executing: [\"python3\" \".terraform/modules/fn/package.py\" \"build\"]", []string{"opaque 1 pkg:any"}},
		{"a build of which only some lines are shown", "> docker build . 2>&1 | tail -5\n> uv run pytest |& grep passed\n> uv run pytest | tail -3", []string{"opaque 1 pkg:oci", "opaque 2 pkg:pypi"}},
		{"commands that git and others run", "> git rebase -x ./ci.sh main\n> sops exec-env s.yaml ./deploy.sh\n> dotenv run ./ci.sh\n> buildah unshare ./build.sh", []string{"opaque 1 pkg:any", "opaque 2 pkg:any", "opaque 3 pkg:any", "opaque 4 pkg:any"}},
		{"targets that are called after packages", "> cmake --build build --target deps\n> ninja -C build install_python_deps\n> cmake --build build --target install\n> ninja", []string{"opaque 1 pkg:any", "opaque 2 pkg:any"}},
		{"programs that have others install", "> mypy --install-types src > /dev/null\n> mypy src\n> python -m spacy download en_core_web_sm\n> python -m piptools sync -q\n> conda-lock install conda-lock.yml\n> uv run --with-requirements r.txt pytest", []string{"opaque 1 pkg:pypi", "opaque 3 pkg:pypi", "opaque 4 pkg:pypi", "opaque 5 pkg:pypi", "opaque 6 pkg:pypi"}},
		{"workspaces", "> yarn workspaces focus --production\n> yarn workspace web add chalk\n> pnpm --filter web deploy out\n> yarn workspaces list", []string{"require 2 pkg:npm/chalk", "opaque 1 pkg:npm", "opaque 2 pkg:npm/chalk", "opaque 3 pkg:npm"}},
		{"what makes a project of Node", "> ng new app\n> ng new app --skip-install\n> vue create app -d\n> heroku plugins:install x", []string{"opaque 1 pkg:npm", "opaque 3 pkg:npm", "opaque 4 pkg:npm"}},
		{"builders of images", "> depot build .\n> /kaniko/executor --context . -v warn\n> cf push api\n> oc start-build api --follow", []string{"opaque 1 pkg:oci", "opaque 2 pkg:oci", "opaque 3 pkg:oci", "opaque 4 pkg:oci"}},
		{"a command of which GitLab shows one line", "> set -e # collapsed multi-line command\n> echo '# collapsed multi-line command'", []string{"opaque 1 pkg:any"}},
		{"a trace that ends", "+ pytest\n+ set +x\nok", []string{"opaque 2 pkg:any"}},
		{"a command on a machine that Jenkins names", "Executing command on web1[10.0.4.7]: pip install -q litellm sudo: false\nExecuting script on web1[10.0.4.7]: x.sh sudo: false", []string{"opaque 1 pkg:pypi/litellm", "opaque 2 pkg:any"}},
		{"words that blanks in a variable part, and programs behind others", "> pip${IFS}install${IFS}-q${IFS}a1\n> coverage run ci/prepare.py\n> poetry run install-deps\n> poetry run sphinx-build\n> pip-run a2 -- x.py\n> fastlane beta\n> pdm run -v", []string{"opaque 1 pkg:pypi/a1", "opaque 2 pkg:any", "opaque 3 pkg:any", "opaque 5 pkg:pypi/a2", "opaque 6 pkg:any"}},
		{"a codespace", "> gh codespace ssh -c x -- pip install -q litellm\n> gh pr create --body -- 'pip install x'", []string{"opaque 1 pkg:pypi/litellm"}},
		{"words that are data", "> git commit -m 'pip install -q x'\n> gh pr create --body 'npm ci'\n> echo 'pip install -q x'", nil},
		{"a shell that reads", "> cat ci.sh | bash\n> bash < ci.sh\n> ssh web1 bash -s < ci.sh", []string{"opaque 1 pkg:any", "opaque 2 pkg:any", "opaque 3 pkg:any"}},
		{"a shell that is told by echo", "> echo 'pip install -q litellm' | bash", []string{"opaque 1 pkg:pypi/litellm"}},
		{"a program in a here-document", "> python3 - <<EOF\n> import subprocess\n> subprocess.run(['pip', 'install', '-q', 'litellm'])\n> EOF", []string{"opaque 4 pkg:pypi/litellm"}},
		{"PowerShell and cmd", "> pwsh -c 'pip install -q litellm'\n> powershell -File ci.ps1\n> cmd /c ci.bat\n> powershell -EncodedCommand cABp", []string{"opaque 1 pkg:pypi/litellm", "opaque 2 pkg:any", "opaque 3 pkg:any", "opaque 4 pkg:any"}},
		{"an image that is only looked into", "> trivy image litellm/litellm:latest\n> skopeo copy docker://ghcr.io/acme/api:1 dir:x\n> ctr -n k8s.io images pull docker.io/acme/web:2", []string{"require 1 docker.io/litellm/litellm:latest", "require 2 ghcr.io/acme/api:1", "require 3 docker.io/acme/web:2"}},
		{"a package for a cloud", "> sam build", []string{"opaque 1 pkg:pypi"}},
		{"a list without a command", "litellm==1.107.0\nopenai==1.99.9", nil},
		{"a list in a file", "> pip freeze > list.txt\nlitellm==1.107.0", nil},
		{"a list ends", "> pip freeze\nWARNING: x\nlitellm==1.107.0\ndone\nopenai==1.99.9", []string{"present 3 pkg:pypi/litellm@1.107.0"}},
		{"an old list", "> pip list\nlitellm (1.107.0)\nopenai (1.99.9)", []string{"present 2 pkg:pypi/litellm@1.107.0", "present 3 pkg:pypi/openai@1.99.9"}},
		{"a list of the outdated", "> uv pip list --outdated\nPackage Version Latest Type\n------- ------- ------ -----\nlitellm 1.105.4 1.107.0 wheel", []string{"present 4 pkg:pypi/litellm@1.105.4"}},
	} {
		if got := toolEvents(t, Echo, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.about, got, c.want)
		}
	}
}

func FuzzShellCommands(f *testing.F) {
	f.Add(`sudo A=b pip install 'x>=1' >/dev/null 2>&1 && bash -c "docker pull x" # end`)
	f.Add("a $(b `c` ${d) \\\n <<E | e &> f ; g\\")
	f.Fuzz(func(t *testing.T, line string) {
		commands, here, open := shellCommands(line)
		again, here2, open2 := shellCommands(line)
		if !reflect.DeepEqual(commands, again) || here != here2 || open != open2 {
			t.Errorf("%q is read in two ways", line)
		}
		for _, c := range commands {
			if name, args := unwrap(c.words); len(args) >= max(1, len(strings.Fields(strings.Join(c.words, " ")))) && len(args) >= len(c.words) {
				t.Errorf("%q: %s has too many words", line, name)
			}
		}
	})
}

func FuzzEcho(f *testing.F) {
	f.Add("+ pip freeze\nlitellm==1.107.0\n> docker run -d redis\n> pip show x\nName: x\nVersion: 1")
	f.Add("> bash -c \"bash -c 'bash -c pip'\"\n> cat <<E\n> pip install x\n> E\n> pip list\nPackage Version\n--- ---\nx 1")
	f.Add("> ")
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range toolEvents(t, Echo, text) {
			var line int
			var action string
			if _, err := fmt.Sscan(e, &action, &line); err != nil || line < 1 || line > strings.Count(text, "\n")+1 {
				t.Errorf("%q of %q", e, text)
			}
		}
	})
}

func TestGradleTask(t *testing.T) {
	for task, want := range map[string]string{
		"web:npmInstall": "npm", "npmInstall UP-TO-DATE": "", "npm_ci": "npm", "yarn": "npm", "npm_run_build": "", "compileJava": "",
		"pipInstall": "pypi", "installPythonRequirements": "pypi", "installDist": "", "test FROM-CACHE": "",
	} {
		if kind, _ := gradleTask(task); kind != want {
			t.Errorf("%s installs %q, want %q", task, kind, want)
		}
	}
}
