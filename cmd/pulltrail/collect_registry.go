package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"pulltrail/ingest/collect"
	"pulltrail/ingest/collect/registry"
)

func (a *app) collectRegistry() *cobra.Command {
	f := collecting{now: true}
	content := false
	c := &cobra.Command{
		Use:   "registry HOST | HOST/REPO...",
		Short: "Tags, indexes, manifests and configs, from an image registry",
		Long: `Fetch what an image registry holds now: the tags with the digests that they name,
the indexes and manifests behind them, configs with their history, and the lists
of what refers to them. HOST is all repositories that the registry lists; Docker
Hub (docker.io) lists none.

A login is looked for in $REGISTRY_CREDENTIAL (USER:PASSWORD, or a bearer token),
--token-file and 'docker login'; without one only what is public is had. It goes
to the registry, or to the token service that the registry names over https, and
to no store of blobs.

With --content the layers of all images are fetched too, each once, kept in the
case, and read for what is installed in them: an image is then cleared or accused
by its own content, and those that were built on it by their chain of layers. That
takes time and room: --dry-run says how many bytes.`,
		Args: wants("HOST or HOST/REPO: a registry, or repositories in it", cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			opt := registry.Options{Content: content}
			for _, word := range args {
				if err := opt.Parse(word); err != nil {
					return usage("%v", err)
				}
			}
			sv := service{opt: registry.Connect(opt, a.tell), tokens: registry.Tokens(opt.Host, f.tokenFile), public: true}
			sv.run = func(ctx context.Context, s *collect.Session) error { return registry.Collect(ctx, s, opt) }
			sv.plan = func(ctx context.Context, s *collect.Session) (string, error) {
				p, err := registry.DryRun(ctx, s, opt)
				plan := fmt.Sprintf("%d repositories, %d tags: it takes about %d calls", p.Repos, p.Tags, p.Calls)
				if content {
					plan += ", " + megabytes(float64(p.Bytes)) + " of layers"
				}
				return plan, err
			}
			return a.collect(c, &f, sv)
		},
	}
	f.access(c)
	c.Flags().BoolVar(&content, "content", false, "fetch and read the layers of images too")
	return c
}
