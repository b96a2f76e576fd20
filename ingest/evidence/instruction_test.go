package evidence

import "testing"

func TestInstruction(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"[2/4] RUN --mount=type=cache,target=/var/cache/pip pip install x", "RUN pip install x"},
		{"[app_release  2/11] RUN apt-get update     && apt-get install -y curl", "RUN apt-get update && apt-get install -y curl"},
		{"RUN pip install x", "RUN pip install x"},
		{"RUN /bin/sh -c pip install x # buildkit", "RUN pip install x"},
		{"RUN |1 VERSION=3 /bin/sh -c pip install x # buildkit", "RUN pip install x"},
		{"|2 A=1 2 B= /bin/sh -c pip install x", "RUN pip install x"},
		{"/bin/sh -c pip install x", "RUN pip install x"},
		{"RUN /bin/bash -o pipefail -c pip install x # buildkit", "RUN pip install x"},
		{"RUN /bin/bash -euo pipefail -c pip install x # buildkit", "RUN pip install x"},
		{`RUN ["pip", "install", "x"]`, "RUN pip install x"},
		{"RUN |1 A=b pip install x # buildkit", "RUN pip install x"},
		{`[3/4] RUN bash -lc "pip install x"`, "RUN pip install x"},
		{`RUN /bin/sh -c bash -lc "pip install x" # buildkit`, "RUN pip install x"},
		{"RUN cmd /S /C pip install x", "RUN pip install x"},
		{"/bin/sh -c #(nop) COPY file:1234 in /app ", "COPY file:1234 in /app"},
		{`/bin/sh -c #(nop)  CMD ["python3"]`, `CMD ["python3"]`},
		{"COPY . /app # buildkit", "COPY . /app"},
		{"[stage-1 4/4] COPY --from=builder --chown=1:1 /venv /venv", "COPY /venv /venv"},
		{"WORKDIR /app", "WORKDIR /app"},
		{"#(nop)", "#(nop)"},
		{"RUN shellcheck -c x", "RUN shellcheck -c x"},
		{"", ""},
	} {
		got := Instruction(c.text)
		if got != c.want {
			t.Errorf("Instruction(%q) = %q, want %q", c.text, got, c.want)
		}
		if again := Instruction(got); again != got {
			t.Errorf("Instruction(%q) = %q: not its own normal form", got, again)
		}
	}
}
