package matchers

import "slices"

// power is what a class of credentials opens, and so how soon it has to be
// rotated.
type power struct {
	why     string
	classes []string
}

// powers are the classes from the most powerful on. What issues other
// credentials comes first: a key that is rotated before it is made again by
// who still holds what issues it is burnt again.
var powers = []power{
	{"it is the machine's own identity in the cloud: whoever has it acts as the machine and can read and issue further keys", []string{"cloud-instance-role"}},
	{
		"it issues or reads other credentials: while it is known, what it opens can be read again",
		[]string{"vault-token", "cloud-secret-store", "kubernetes-credential", "cloud-static-key", "password-manager", "infra-state"},
	},
	{"it is the gateway's administrator: it reads and issues every key behind the gateway", []string{"gateway-master-key"}},
	{"it changes what others run", []string{"git-token", "package-publish-token", "signing-key", "registry-credential", "ssh-key"}},
	{"it spends money and reads prompts at a provider", []string{"llm-provider-key"}},
	{"it opens the data: in a gateway's database, every key of every customer", []string{"database-credential"}},
	{"it is one customer's way through the gateway", []string{"gateway-virtual-key"}},
	{"it opens one account or service", []string{"saas-token", "tls-key", "wallet", "account-password", "assistant-credential", "browser-store"}},
	{"what it opens is not known: its name does not say", []string{"all-secrets", ciSecret, processEnv, "dotenv-file", "shell-history"}},
}

// powerOf ranks a class, 1 for the most powerful, and says why.
func powerOf(class string) (rank int, why string) {
	for i, p := range powers {
		if slices.Contains(p.classes, class) {
			return i + 1, p.why
		}
	}
	return len(powers), powers[len(powers)-1].why
}
