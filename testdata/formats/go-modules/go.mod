module acme.example/api

go 1.22

require (
	github.com/spf13/cobra v1.8.0
)

require github.com/spf13/pflag v1.0.5 // indirect

replace github.com/pkg/errors => github.com/acme/errors v0.9.2

exclude github.com/acme/bad v1.0.0
