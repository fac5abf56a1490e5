package configs

import "hilrig/configs/schema"

// What only tests ask for.

// Decode decodes YAML into a struct that holds its defaults: unknown keys, wrong units, wrong types and repeated keys are
// all reported at once, as *Errors. into is a pointer to a struct with tags as in Config; one with a method Check is checked as well.
func Decode(name string, data []byte, into any) error {
	_, err := schema.Load(name, data, into, func(r *schema.Report) {
		if c, ok := into.(interface{ Check(r *schema.Report) }); ok {
			c.Check(r)
		}
	})
	return err
}

// StudyBytes is LoadStudy for a file that is already in memory; name appears in messages, and its folder is where the path of
// the file to simulate starts.
func StudyBytes(name string, data []byte) (c *Study, warnings []schema.Problem, err error) {
	return studyBytes(name, data, schema.ReadFile)
}
