package frame

import (
	"slices"
	"strings"
	"testing"
)

func TestDockerBuildOperations(t *testing.T) {
	id := strings.Repeat("ab", 32)
	for _, c := range []struct {
		about, text string
		want        []string
	}{
		{"steps answer for themselves", "Step 1/3 : FROM x:1\n ---> 2ca708c1c9cc\nStep 2/3 : RUN get a\n ---> Running in 60dc358f3443\ngot a\nStep 3/3 : RUN get b\nnothing", []string{
			`install 5 "got a" open of docker-build`,
			`opaque 6 "get b" cut of docker-build`,
			`present 1 "" cut of `,
			`require 3 "get a" open of docker-build`,
			`require 6 "get b" cut of docker-build`,
		}},
		{"a cached step ran before", "STEP 1/2: FROM scratch\nSTEP 2/2: RUN get a\n--> Using cache " + id + "\nCOMMIT\n--> abababababa\n" + id, []string{
			`build 4 "" done of `,
			`cached 3 "RUN get a" cached of docker-build`,
			`opaque 2 "get a" cached of docker-build`,
			`require 2 "get a" cached of docker-build`,
		}},
		{"a base that is pulled is not there before", "STEP 1/1: FROM x:1\nTrying to pull x:1...\nCOMMIT y:1", nil},
		{"an earlier stage is no image", "[1/2] STEP 1/1: FROM scratch AS one\n[2/2] STEP 1/1: FROM one\n[2/2] COMMIT y:1\nerror", nil},
		{"an ID alone", "STEP 1: FROM scratch\nSTEP 2: COMMIT y:1\n" + id, []string{`build 2 "" done of `}},
		{"an ID behind the layers", "STEP 1: FROM scratch\nSTEP 2: COMMIT y:1\nGetting image source signatures\nCopying config sha256:" + id + "\nWriting manifest to image destination\nStoring signatures\n" + id, []string{`build 2 "" done of `}},
		{"prose", "Step 2: do it\nSTEP by step: go\n[1/2] STEP\n--> see\n ---> Using cache\nSuccessfully tagged x:1\nCOMMIT", nil},
	} {
		if got := summary(read(t, c.text)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.about, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func FuzzDockerBuild(f *testing.F) {
	f.Add("Step 1/2 : FROM x\n ---> 2ca708c1c9cc\nStep 2/2 : RUN get a\n ---> Using cache\nSuccessfully built 2ca708c1c9cc\nSuccessfully tagged y:1")
	f.Add("[1/2] STEP 1/1: FROM a AS b\n[2/2] COMMIT y:1\n--> aa\nSuccessfully tagged y:1\n" + strings.Repeat("ab", 32))
	f.Fuzz(func(t *testing.T, text string) {
		lines := int64(strings.Count(text, "\n") + 1)
		for _, e := range read(t, text).Events {
			if e.Line < 1 || e.Line > lines || len(e.Items) == 0 {
				t.Errorf("an event that stands nowhere: %+v", e)
			}
		}
	})
}
