-- The tables of a LiteLLM proxy's database that hold keys and requests, as its migrations of
-- 2026 leave them; columns of budgets and of routing are left out.
CREATE TABLE "LiteLLM_OrganizationTable" (
  "organization_id" text PRIMARY KEY, "organization_alias" text NOT NULL, "metadata" jsonb NOT NULL DEFAULT '{}', "models" text[]
);
CREATE TABLE "LiteLLM_TeamTable" (
  "team_id" text PRIMARY KEY, "team_alias" text, "organization_id" text, "blocked" boolean NOT NULL DEFAULT false
);
CREATE TABLE "LiteLLM_UserTable" ("user_id" text PRIMARY KEY, "user_alias" text, "user_email" text, "password" text);
CREATE TABLE "LiteLLM_VerificationToken" (
  "token" text PRIMARY KEY, "key_name" text, "key_alias" text, "spend" double precision NOT NULL DEFAULT 0, "expires" timestamp(3),
  "models" text[], "aliases" jsonb NOT NULL DEFAULT '{}', "config" jsonb NOT NULL DEFAULT '{}', "user_id" text, "team_id" text,
  "permissions" jsonb NOT NULL DEFAULT '{}', "metadata" jsonb NOT NULL DEFAULT '{}', "blocked" boolean, "organization_id" text,
  "created_at" timestamp(3) DEFAULT now(), "created_by" text, "updated_at" timestamp(3) DEFAULT now(), "updated_by" text,
  "last_active" timestamp(3), "rotation_count" integer DEFAULT 0, "auto_rotate" boolean DEFAULT false, "rotation_interval" text,
  "last_rotation_at" timestamp(3), "key_rotation_at" timestamp(3)
);
CREATE TABLE "LiteLLM_DeletedVerificationToken" (
  "id" text PRIMARY KEY, "token" text NOT NULL, "key_name" text, "key_alias" text, "user_id" text, "team_id" text, "organization_id" text,
  "metadata" jsonb NOT NULL DEFAULT '{}', "blocked" boolean, "expires" timestamp(3), "created_at" timestamp(3), "updated_at" timestamp(3),
  "last_active" timestamp(3), "last_rotation_at" timestamp(3), "deleted_at" timestamp(3) NOT NULL DEFAULT now(), "deleted_by" text
);
CREATE TABLE "LiteLLM_CredentialsTable" (
  "credential_id" text PRIMARY KEY, "credential_name" text UNIQUE NOT NULL, "credential_values" jsonb NOT NULL, "credential_info" jsonb,
  "created_at" timestamp(3) NOT NULL DEFAULT now(), "created_by" text NOT NULL, "updated_at" timestamp(3) NOT NULL DEFAULT now(), "updated_by" text NOT NULL
);
CREATE TABLE "LiteLLM_ProxyModelTable" (
  "model_id" text PRIMARY KEY, "model_name" text NOT NULL, "litellm_params" jsonb NOT NULL, "model_info" jsonb,
  "created_at" timestamp(3) NOT NULL DEFAULT now(), "created_by" text NOT NULL, "updated_at" timestamp(3) NOT NULL DEFAULT now(), "updated_by" text NOT NULL
);
CREATE TABLE "LiteLLM_SpendLogs" (
  "request_id" text PRIMARY KEY, "call_type" text NOT NULL, "api_key" text NOT NULL DEFAULT '', "spend" double precision NOT NULL DEFAULT 0,
  "total_tokens" integer NOT NULL DEFAULT 0, "prompt_tokens" integer NOT NULL DEFAULT 0, "completion_tokens" integer NOT NULL DEFAULT 0,
  "startTime" timestamp(3) NOT NULL, "endTime" timestamp(3) NOT NULL, "completionStartTime" timestamp(3), "model" text NOT NULL DEFAULT '',
  "model_id" text DEFAULT '', "model_group" text DEFAULT '', "custom_llm_provider" text DEFAULT '', "api_base" text DEFAULT '', "user" text DEFAULT '',
  "metadata" jsonb DEFAULT '{}', "cache_hit" text DEFAULT '', "cache_key" text DEFAULT '', "request_tags" jsonb DEFAULT '[]', "team_id" text,
  "end_user" text, "requester_ip_address" text, "messages" jsonb DEFAULT '{}', "response" jsonb DEFAULT '{}', "session_id" text, "status" text,
  "proxy_server_request" jsonb DEFAULT '{}'
);
CREATE INDEX "LiteLLM_SpendLogs_startTime_request_id_idx" ON "LiteLLM_SpendLogs" ("startTime", "request_id");
