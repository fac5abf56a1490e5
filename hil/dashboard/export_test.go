package dashboard

import "errors"

// What only tests ask for.

// Close gives the port back without having run.
func (s *Server) Close() error {
	var errs []error
	for _, l := range s.listeners {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}
