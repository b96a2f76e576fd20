# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.acme.example/hashicorp/aws" {
  version     = "5.31.0"
  constraints = "~> 5.0"
  hashes = [
    "h1:bDBrGdWRZKzOs6PLyvBrDMAhOQ2oKWDxR9dCRLVVkGU=",
    "zh:0cdb9c2083bf0902442384f7309367791e4640581652dda456f2d6d7abf0de8d",
    "zh:2fe4884cb9642f48a5889f8dff8f5f511418a18537a9dfa77ada3bcdad391e4e",
  ]
}

provider "registry.acme.example/acme/vault-tools" {
  version = "0.3.0-beta1"
}
