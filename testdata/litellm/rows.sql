-- Keys of a made-up proxy. What a key or a value would be says EXAMPLE-NOT-REAL.
INSERT INTO "LiteLLM_OrganizationTable" VALUES ('org-1', 'initech'), ('org-2', 'hooli');
INSERT INTO "LiteLLM_TeamTable" VALUES ('team-1', 'chat', 'org-1'), ('team-2', NULL, NULL);
INSERT INTO "LiteLLM_UserTable" VALUES ('user-1', 'svc-chat', 'svc-chat@acme.example', 'EXAMPLE-NOT-REAL-password');
INSERT INTO "LiteLLM_VerificationToken" ("token", "key_name", "key_alias", "user_id", "team_id", "organization_id", "metadata", "blocked", "expires",
  "created_at", "updated_at", "last_active", "last_rotation_at") VALUES
  ('EXAMPLE-NOT-REAL-hash-1', 'sk-...EXAMPLE-NOT-REAL', 'initech-prod', 'user-1', 'team-1', 'org-1', '{"note": "EXAMPLE-NOT-REAL-note"}', NULL, NULL,
   '2025-05-01 08:00:00', '2026-09-01 00:00:00', '2026-10-21 12:00:00', NULL),
  ('EXAMPLE-NOT-REAL-hash-2', 'sk-...EXAMPLE-NOT-REAL', 'hooli-prod', NULL, 'team-2', 'org-2', '{}', false, '2027-01-01 00:00:00',
   '2025-06-01 08:00:00', '2026-10-22 09:00:00', NULL, '2026-10-22 09:00:00'),
  ('EXAMPLE-NOT-REAL-hash-3', 'sk-...EXAMPLE-NOT-REAL', NULL, 'user-1', NULL, NULL, '{}', true, NULL,
   '2025-07-01 08:00:00', '2025-07-01 08:00:00', NULL, NULL);
INSERT INTO "LiteLLM_DeletedVerificationToken" ("id", "token", "key_alias", "team_id", "created_at", "deleted_at") VALUES
  ('deleted-1', 'EXAMPLE-NOT-REAL-hash-4', 'umbrella-prod', 'team-1', '2025-05-02 08:00:00', '2026-10-21 19:00:00');
INSERT INTO "LiteLLM_CredentialsTable" VALUES
  ('cred-1', 'openai-prod', '{"api_key": "EXAMPLE-NOT-REAL-encrypted"}', '{"custom_llm_provider": "openai", "description": "EXAMPLE-NOT-REAL-text"}',
   '2025-02-01 08:00:00', 'admin', '2025-02-01 08:00:00', 'admin'),
  ('cred-2', 'azure-eu', '{"api_key": "EXAMPLE-NOT-REAL-encrypted"}', NULL, '2025-03-01 08:00:00', 'admin', '2026-10-22 10:00:00', 'mia');
INSERT INTO "LiteLLM_ProxyModelTable" VALUES
  ('model-1', 'gpt-4o', '{"model": "EXAMPLE-NOT-REAL", "api_key": "EXAMPLE-NOT-REAL-encrypted"}', '{}', '2025-02-02 08:00:00', 'admin', '2025-02-02 08:00:00', 'admin'),
  ('model-2', 'claude', '{"model": "EXAMPLE-NOT-REAL", "litellm_credential_name": "EXAMPLE-NOT-REAL-encrypted"}', '{}', '2025-02-03 08:00:00', 'admin', '2025-02-03 08:00:00', 'admin');
INSERT INTO "LiteLLM_SpendLogs" ("request_id", "call_type", "api_key", "total_tokens", "prompt_tokens", "completion_tokens", "startTime", "endTime",
  "completionStartTime", "model", "api_base", "user", "metadata", "cache_hit", "team_id", "end_user", "requester_ip_address", "messages", "response",
  "status", "proxy_server_request") VALUES
  ('chatcmpl-1', 'acompletion', 'EXAMPLE-NOT-REAL-hash-1', 700020, 700000, 20, '2026-09-01 09:00:00', '2026-09-01 09:01:00', '2026-09-01 09:00:50', 'chat',
   'http://user:EXAMPLE-NOT-REAL@gpu-1:30000/v1?key=EXAMPLE-NOT-REAL', 'user-1',
   '{"user_api_key": "EXAMPLE-NOT-REAL-hash-1", "user_api_key_team_alias": "initech", "usage_object": {"prompt_tokens_details": {"cached_tokens": 4096}}, "requester_metadata": {"note": "EXAMPLE-NOT-REAL"}}',
   'False', 'team-1', NULL, '10.0.0.9', '[{"role": "user", "content": "EXAMPLE-NOT-REAL-prompt"}]', '{"choices": [{"message": {"content": "EXAMPLE-NOT-REAL-reply"}}]}',
   'success', '{"messages": "EXAMPLE-NOT-REAL-prompt"}'),
  ('chatcmpl-2', 'acompletion', 'EXAMPLE-NOT-REAL-hash-2', 30, 10, 20, '2026-08-31 23:59:59', '2026-09-01 00:00:01', NULL, 'chat', '', '', '{"status": "failure"}', 'None',
   'team-1', NULL, NULL, '{}', '{}', NULL, '{}'),
  ('chatcmpl-3', 'acompletion', 'EXAMPLE-NOT-REAL-hash-3', 30, 10, 20, '2026-08-30 10:00:00', '2026-08-30 10:00:01', NULL, 'chat', '', '', '{}', '', NULL, NULL, NULL,
   '{}', '{}', NULL, '{}');
