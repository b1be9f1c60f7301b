-- What a carrier says of people, and where a label could be fetched, is deleted with the other records of providers.
CREATE INDEX labels_to_sweep ON labels (bought_at) WHERE num_nonnulls(signed_by, label_url) > 0;
CREATE INDEX labels_by_tracking ON labels (tracking_number);
CREATE INDEX letters_by_tracking ON letters (tracking_number);
