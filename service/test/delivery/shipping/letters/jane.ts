/** The recipient of letters in tests. */
export const jane = {
  name: "Jane Roe",
  line1: "350 Fifth Avenue",
  line2: null,
  city: "New York",
  state: "NY",
  postal: "10118",
};
