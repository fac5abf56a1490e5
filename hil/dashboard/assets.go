package dashboard

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// The page and the library it draws with: uPlot 1.6.32 (MIT), as published, with its licence text beside it.
//
//go:embed assets
var files embed.FS

// asset is one file of the page, kept in memory with the tag by which a browser knows that it has not changed.
type asset struct {
	body []byte
	kind string // media type
	tag  string // quoted ETag
}

var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	"":      "text/plain; charset=utf-8", // LICENSE
}

// loadAssets reads the embedded files, keyed by their path on the server.
func loadAssets() (map[string]asset, error) {
	all := map[string]asset{}
	err := fs.WalkDir(files, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		kind, ok := kinds[path.Ext(name)]
		if !ok {
			return fmt.Errorf("%s: no media type for this kind of file", name)
		}
		sum := sha256.Sum256(body)
		all[strings.TrimPrefix(name, "assets")] = asset{body, kind, fmt.Sprintf(`"%x"`, sum[:8])}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("dashboard: embedded page: %w", err)
	}
	all["/"] = all["/index.html"]
	return all, nil
}

// getAsset serves one file of the page.
func (s *Server) getAsset(w http.ResponseWriter, r *http.Request) {
	a, ok := s.assets[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("ETag", a.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.body))
}
