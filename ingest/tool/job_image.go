package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// JobImage is what services that build say of the image that a job or a step of
// it runs in.
// https://circleci.com/docs/using-docker/
// https://support.atlassian.com/bitbucket-cloud/docs/use-docker-images-as-build-environments/
// https://cloud.google.com/build/docs/cloud-builders
var JobImage = evidence.Format{
	Name:   "job-image",
	Shape:  evidence.ToolShape,
	Title:  "The image of a job (CircleCI, Bitbucket, Cloud Build, GitLab on Kubernetes)",
	Proves: "which image a job had, and its digest where that is printed",
	Cannot: "whether it came over or was there",
	Doc:    "https://circleci.com/docs/using-docker/",
	Sample: "written by hand after public logs",
	Starts: []string{"Starting container ", "using image ", "Images used:", "Already have image", "Using Kubernetes executor with image "},
	Tool:   func() evidence.Parser { return &jobImage{} },
}

type jobImage struct {
	asked timeline.ImageRef // of the container that is starting
	list  bool              // rows of images come
}

// Line reads one line:
//
//	Starting container cimg/node:18.20                                                          (CircleCI)
//	  using image cimg/node@sha256:2222…
//	Images used:                                                                                (Bitbucket)
//	    build : docker.io/library/python@sha256:4444…
//	Already have image (with digest): gcr.io/cloud-builders/docker                              (Cloud Build)
//	Using Kubernetes executor with image registry.acme.example/ci/python:3.11 ...               (GitLab)
func (j *jobImage) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := string(bytes.TrimSpace(l.Text))
	if l.Echo {
		return evidence.Miss
	}
	if j.list {
		_, image, ok := strings.Cut(text, " : ")
		if j.list = ok && strings.HasPrefix(string(l.Text), " ") && j.placed(image, o); j.list {
			return evidence.More
		}
	}
	if rest, ok := strings.CutPrefix(text, "Starting container "); ok {
		j.asked, _ = timeline.ParseImage(rest)
		return evidence.Miss
	}
	if rest, ok := strings.CutPrefix(text, "using image "); ok && j.placed(rest, o) {
		return evidence.Done
	}
	if text == "Images used:" {
		j.list = true
		return evidence.More
	}
	if rest, ok := strings.CutPrefix(text, "Already have image"); ok {
		image := timeline.NormalizeImage(strings.TrimPrefix(strings.TrimPrefix(rest, " (with digest)"), ": "))
		if image == "" || !strings.Contains(rest, ": ") {
			return evidence.Miss
		}
		o.Seen(timeline.Images)
		o.Emit(timeline.Check, nil, timeline.Item{Artifact: image})
		o.Emit(timeline.Present, nil, timeline.Item{Artifact: image})
		return evidence.Done
	}
	rest, _ := strings.CutPrefix(text, "Using Kubernetes executor with image ")
	if image := timeline.NormalizeImage(firstWord(rest)); image != "" && strings.HasSuffix(rest, " ...") {
		o.Seen(timeline.Images)
		o.Emit(timeline.Require, nil, timeline.Item{Artifact: image})
		return evidence.Done
	}
	return evidence.Miss
}

// placed reads an image with its digest, and adds the tag that it was asked by.
func (j *jobImage) placed(text string, o *evidence.Out) bool {
	image, ok := timeline.ParseImage(text)
	if !ok || image.Digest == "" {
		return false
	}
	if image.Name == j.asked.Name && image.Tag == "" {
		image.Tag = j.asked.Tag
	}
	o.Seen(timeline.Images)
	o.Emit(timeline.Present, nil, timeline.Item{Artifact: image.String(), Digests: []timeline.Digest{{Value: image.Digest}}})
	return true
}

// End does nothing: each line stands for itself.
func (*jobImage) End(timeline.OpState, *evidence.Out) {}
