-- Which list of rights the service's own role was given last (`append-only.json`), where there is such a role.
CREATE TABLE service_rights (
  sha256 text NOT NULL,
  granted_at timestamptz NOT NULL DEFAULT now()
);
