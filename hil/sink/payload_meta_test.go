package sink

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The topics that meta lists are those of contrib/asyncapi.yaml, which a running daemon is held against, and those of the reference.
func TestMetaListsEveryTopic(t *testing.T) {
	info := testInfo()
	body, err := metaJSON(&PublisherOptions{Info: info}, "hil/"+info.Schema.Rig+"/")
	if err != nil {
		t.Fatal(err)
	}
	var meta Meta
	if err := json.Unmarshal(body, &meta); err != nil {
		t.Fatal(err)
	}
	var listed []string
	for topic, content := range meta.Topics {
		if content == "" {
			t.Errorf("%s carries nothing", topic)
		}
		listed = append(listed, strings.TrimPrefix(topic, "hil/"+info.Schema.Rig+"/"))
	}
	slices.Sort(listed)

	text, err := os.ReadFile("../../contrib/asyncapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var published []string
	for _, address := range regexp.MustCompile(`address: "\{prefix\}/\{rig\}/([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
		published = append(published, strings.ReplaceAll(address[1], "{command}", "+"))
	}
	if slices.Sort(published); !slices.Equal(listed, published) {
		t.Errorf("meta lists %q, asyncapi.yaml has %q", listed, published)
	}

	page, err := os.ReadFile("../../docs/reference/mqtt.md")
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(page), "## Health")
	var explained []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?) \\|").FindAllStringSubmatch(table, -1) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			explained = append(explained, strings.ReplaceAll(name[1], "<name>", "+"))
		}
	}
	if slices.Sort(explained); !slices.Equal(listed, explained) {
		t.Errorf("meta lists %q, mqtt.md explains %q", listed, explained)
	}
}
