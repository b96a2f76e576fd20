package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"pulltrail/ingest/collect"
	"pulltrail/ingest/collect/kubernetes"
)

func (a *app) collectKubernetes() *cobra.Command {
	f := collecting{now: true}
	var want kubernetes.Wanted
	var namespaces []string
	c := &cobra.Command{
		Use:   "kubernetes",
		Short: "Nodes, pods, events and names of secrets, from a cluster",
		Long: `Fetch what a cluster says of itself now: nodes with the images in their stores,
pods with the digests that their containers run, events (of the last hour, as a
rule), and the names of secrets, of their keys and of config maps. Of secrets and
config maps the server is asked for metadata alone; no value is asked for.

The cluster is the current context of the kubeconfig ($KUBECONFIG, ~/.kube/config),
or in a pod its own. A login is its token or client certificate; a plugin (EKS, GKE,
AKS) is a program that the kubeconfig names, and is run with --run-plugin alone.
What the account needs is to list events, pods, nodes, secrets, configmaps and
namespaces; to list secrets is to be allowed to read them, so give it a role of its
own. Where all namespaces are denied, each is asked for, and those that are denied
are named. Clusters that have pods of the same names belong in cases of their own.`,
		Args: wants("no argument: --context NAME, --namespace NAME", cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			want.Token = f.tokenFile != ""
			all, err := kubernetes.Contexts(c.Context(), want)
			if err != nil {
				return err
			}
			if f.tokenFile != "" && len(all) > 1 {
				return usage("--token-file is for one cluster: name one --context")
			}
			worst := error(nil)
			for _, cluster := range all {
				if err := a.collectCluster(c, &f, kubernetes.Options{Context: cluster, Namespaces: namespaces}); err != nil {
					var code exitError
					if !errors.As(err, &code) {
						return fmt.Errorf("context %s: %w", cluster.Name, err)
					}
					worst = err
				}
			}
			return worst
		},
	}
	f.access(c)
	c.Flags().StringVar(&want.File, "kubeconfig", "", "kubeconfig to read in place of $KUBECONFIG")
	c.Flags().StringSliceVar(&want.Names, "context", nil, "contexts of the kubeconfig (default: the current one)")
	c.Flags().BoolVar(&want.Plugin, "run-plugin", false, "run the program that the kubeconfig names for the login")
	c.Flags().StringSliceVar(&namespaces, "namespace", nil, "namespaces (default: all)")
	return c
}

func (a *app) collectCluster(c *cobra.Command, f *collecting, opt kubernetes.Options) error {
	with, err := kubernetes.Connect(opt)
	if err != nil {
		return err
	}
	sv := service{opt: with, tokens: opt.Context.Tokens(f.tokenFile), public: true}
	sv.run = func(ctx context.Context, s *collect.Session) error { return kubernetes.Collect(ctx, s, opt) }
	sv.plan = func(ctx context.Context, s *collect.Session) (string, error) {
		p, err := kubernetes.DryRun(ctx, s, opt)
		return fmt.Sprintf("%s: %d objects, %d lists denied: it takes %d calls", opt.Context.Name, p.Objects, p.Hidden, p.Calls), err
	}
	return a.collect(c, f, sv)
}
