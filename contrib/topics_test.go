package contrib

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"hilrig/engine/peer"
)

// check is the reader of AsyncAPI's schemas: every message against the one of its channel, by Debian's jsonschema.
const check = `
import json, sys, jsonschema
job = json.load(sys.stdin)
wrong, validators = [], {}
for m in job["messages"]:
    v = validators.get(m["schema"])
    if v is None:
        v = validators[m["schema"]] = jsonschema.Draft7Validator({"$ref": m["schema"], "components": job["components"]})
    for e in v.iter_errors(m["body"]):
        wrong.append(m["topic"] + ": " + "/".join(map(str, e.path)) + ": " + e.message[:300])
json.dump(sorted(set(wrong)), sys.stdout)
`

type asyncAPI struct {
	Channels map[string]struct {
		Address  string
		Messages map[string]struct {
			Ref string `json:"$ref"`
		}
	}
	Components map[string]any
	Operations map[string]struct {
		Action  string
		Channel struct {
			Ref string `json:"$ref"`
		}
		Bindings struct{ MQTT struct{ Retain bool } }
	}
}

func readAsyncAPI(t *testing.T) (doc asyncAPI) {
	t.Helper()
	text, err := os.ReadFile("asyncapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// channelOf is the name of the channel of a topic; "": none.
func (doc *asyncAPI) channelOf(topic string) string {
	for name, c := range doc.Channels {
		pattern := strings.ReplaceAll(strings.TrimPrefix(c.Address, "{prefix}/{rig}/"), "{command}", "[a-z]+")
		if regexp.MustCompile("^" + pattern + "$").MatchString(topic) {
			return name
		}
	}
	return ""
}

// Everything that the daemon publishes, and what it takes, is in the document, and every message fits its schema; everything in the
// document is published. What other files of this folder name is published as well.
func TestTopics(t *testing.T) {
	doc := readAsyncAPI(t)
	d := startDaemon(t)
	want := []string{"status", "meta", "params", "state", "samples", "estimate", "estimate/report", "identify/status", "identify/result",
		"health", "event", "cmd/stop/ack", "cmd/set/ack", "cmd/identify/ack", "cmd/hold/ack", "cmd/adopt/ack"}
	orders := map[string]string{"hold": `{"id":"1"}`, "set": `{"id":"2","set":{"shaft.control.kp":0.3}}`, "stop": "{}",
		"identify": `{"id":"3","identify":{"axis":"shaft","way":"least-squares","window_s":2}}`,
		"adopt":    `{"id":"4","adopt":{"axis":"shaft","law":"coulomb","params":{"Fc":9,"Fv":1e-4}},"confirm":false}`}
	messages := d.collect(want, orders)

	// by channel; the messages of components are taken for their schemas
	type judged struct {
		Topic  string          `json:"topic"`
		Schema string          `json:"schema"`
		Body   json.RawMessage `json:"body"`
	}
	job := struct {
		Messages   []judged       `json:"messages"`
		Components map[string]any `json:"components"`
	}{Components: doc.Components}
	channels := map[string]bool{}
	for _, m := range messages {
		name := doc.channelOf(m.topic)
		if name == "" {
			t.Errorf("topic %s is not in asyncapi.yaml", m.topic)
			continue
		}
		channels[name] = true
		for _, ref := range doc.Channels[name].Messages {
			job.Messages = append(job.Messages, judged{m.topic, ref.Ref + "/payload", m.body})
		}
	}
	broken := judged{"event", "#/components/messages/event/payload",
		json.RawMessage(`{"timestamp":1,"seq":1,"level":"loud","text":"","extra":1}`)}
	job.Messages = append(job.Messages, broken) // the reader finds what is wrong
	var wrong []string
	peer.Ask(t, "jsonschema", job, &wrong, "-c", check)
	found := 0
	for _, w := range wrong {
		if strings.Contains(w, "loud") || strings.Contains(w, "extra") || strings.Contains(w, "'code' is a required") {
			found++
			continue
		}
		t.Error(w)
	}
	if found != 3 {
		t.Errorf("the reader found %d of 3 slips in a broken event", found)
	}
	for name := range doc.Channels {
		if !channels[name] && !strings.HasPrefix(name, "probe") { // the daemon's own broker asks nobody
			t.Errorf("nothing came on channel %s", name)
		}
	}
	// a new subscriber gets at once what is retained, and nothing else
	var held []string
	for _, o := range doc.Operations {
		name := strings.TrimPrefix(o.Channel.Ref, "#/channels/")
		if o.Action == "send" && o.Bindings.MQTT.Retain {
			held = append(held, strings.TrimPrefix(doc.Channels[name].Address, "{prefix}/{rig}/"))
		}
	}
	slices.Sort(held)
	var got []string
	for _, m := range d.collect(held, nil) {
		if m.retained {
			got = append(got, m.topic)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, held) {
		t.Errorf("retained are %v, in asyncapi.yaml %v", got, held)
	}

	keys := map[string]map[string]bool{} // topic → what its objects have
	for _, m := range messages {
		objects := []map[string]any{}
		body := bytes.TrimSpace(m.body)
		if !bytes.HasPrefix(body, []byte("[")) {
			body = append(append([]byte("["), body...), ']')
		}
		json.Unmarshal(body, &objects)
		for _, o := range objects {
			if keys[m.topic] == nil {
				keys[m.topic] = map[string]bool{}
			}
			for k := range o {
				keys[m.topic][k] = true
			}
		}
	}
	t.Run("PlotJuggler", func(t *testing.T) { testPlotJuggler(t, keys) })
	t.Run("HomeAssistant", func(t *testing.T) { testHomeAssistant(t, keys) })
	t.Run("Telegraf", func(t *testing.T) { testTelegraf(t, keys) })
	t.Run("Prometheus", func(t *testing.T) { testExposition(t, d, keys["health"]) })
}

// layoutNode is an element of a PlotJuggler layout.
type layoutNode struct {
	XMLName  xml.Name
	Attrs    []xml.Attr   `xml:",any,attr"`
	Children []layoutNode `xml:",any"`
}

func (n *layoutNode) attr(name string) string {
	for _, a := range n.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// layoutSlips judges a layout as the loaders of PlotJuggler 3.17 and 4 do, by their source, and returns its curves. The loader of version 4
// refuses a file for each of these slips; both leave out a curve whose series they do not find: <topic>/<key> in version 3, the topic and
// the key in version 4, which waits for the series of a curve that is a pending intent.
func layoutSlips(data []byte) (curves, slips []string) {
	slip := func(format string, args ...any) { slips = append(slips, fmt.Sprintf(format, args...)) }
	var root layoutNode
	if err := xml.Unmarshal(data, &root); err != nil {
		return nil, []string{err.Error()}
	}
	var visit func(n *layoutNode)
	visit = func(n *layoutNode) {
		switch n.XMLName.Local {
		case "DockSplitter":
			sizes := strings.Split(n.attr("sizes"), ";")
			if o := n.attr("orientation"); o != "|" && o != "-" || len(n.Children) == 0 || len(sizes) != len(n.Children) ||
				n.attr("count") != strconv.Itoa(len(n.Children)) {
				slip("splitter of %d areas: orientation %s, sizes %s, count %s", len(n.Children), o, n.attr("sizes"), n.attr("count"))
			}
			for _, s := range sizes {
				if v, err := strconv.ParseFloat(s, 64); err != nil || !(v > 0 && v <= 1) {
					slip("size %s", s)
				}
			}
			for i := range n.Children {
				visit(&n.Children[i])
			}
		case "DockArea":
			if len(n.Children) != 1 || n.Children[0].XMLName.Local != "plot" || n.Children[0].attr("mode") != "TimeSeries" {
				slip("area %s has not one plot over time", n.attr("name"))
				return
			}
			in := map[string]bool{}
			for _, c := range n.Children[0].Children {
				name, topic, field := c.attr("name"), c.attr("topic"), c.attr("field")
				if c.XMLName.Local != "curve" || topic == "" || name != topic+"/"+field || c.attr("pending_intent") != "true" ||
					c.attr("dataset_id") != "" || in[name] {
					slip("%s %s of %s: topic %s, field %s", c.XMLName.Local, name, n.attr("name"), topic, field)
				}
				in[name] = true
				curves = append(curves, name)
			}
		default:
			slip("%s is no area", n.XMLName.Local)
		}
	}
	if root.XMLName.Local != "root" || len(root.Children) == 0 || root.Children[0].XMLName.Local != "tabbed_widget" ||
		root.Children[0].attr("parent") != "main_window" || root.Children[0].attr("name") == "" {
		slip("no window")
		return nil, slips
	}
	for _, tab := range root.Children[0].Children {
		switch {
		case tab.XMLName.Local == "currentTabIndex":
		case tab.XMLName.Local != "Tab" || tab.attr("containers") != "1" || len(tab.Children) != 1 ||
			tab.Children[0].XMLName.Local != "Container" || len(tab.Children[0].Children) != 1:
			slip("%s %s has not one container of one area", tab.XMLName.Local, tab.attr("tab_name"))
		default:
			visit(&tab.Children[0].Children[0])
		}
	}
	return curves, slips
}

// Both versions of PlotJuggler load the layout, and its curves are signals; a layout with a slip is refused.
func testPlotJuggler(t *testing.T, keys map[string]map[string]bool) {
	data, err := os.ReadFile("plotjuggler.xml")
	if err != nil {
		t.Fatal(err)
	}
	curves, slips := layoutSlips(data)
	if len(slips) > 0 || len(curves) == 0 {
		t.Errorf("%d curves, %v", len(curves), slips)
	}
	for _, c := range curves {
		if signal, found := strings.CutPrefix(c, "hil/motor/samples/"); !found || !keys["samples"][signal] {
			t.Errorf("curve %s is no signal", c)
		}
	}
	for _, change := range [][2]string{{`count="3"`, `count="2"`}, {`sizes="0.34;`, `sizes="`}, {`containers="1"`, `containers="2"`},
		{` topic="hil/motor/samples"`, ""}, {`mode="TimeSeries"`, `mode="XYPlot"`}, {`parent="main_window"`, ""}} {
		if _, slips := layoutSlips([]byte(strings.Replace(string(data), change[0], change[1], 1))); len(slips) == 0 {
			t.Errorf("%s instead of %s was taken", change[1], change[0])
		}
	}
}

var haTemplate = regexp.MustCompile(`^\{\{ value_json\['([^']+)'\] \}\}$`)

// Every entity that Home Assistant discovers has a unique id, reads a key that is published, and orders what the daemon takes.
func testHomeAssistant(t *testing.T, keys map[string]map[string]bool) {
	data, err := os.ReadFile("homeassistant.json")
	if err != nil {
		t.Fatal(err)
	}
	type entity struct {
		Platform   string `json:"platform"`
		UniqueID   string `json:"unique_id"`
		Name       string `json:"name"`
		Topic      string `json:"state_topic"`
		Template   string `json:"value_template"`
		Class      string `json:"device_class"`
		StateClass string `json:"state_class"`
		Unit       string `json:"unit_of_measurement"`
		Precision  int    `json:"suggested_display_precision"`
		Category   string `json:"entity_category"`
		Command    string `json:"command_topic"`
		Press      string `json:"payload_press"`
		QoS        int    `json:"qos"`
	}
	var discovery struct {
		Device struct {
			Identifiers  []string `json:"identifiers"`
			Name         string   `json:"name"`
			Manufacturer string   `json:"manufacturer"`
			Model        string   `json:"model"`
		} `json:"device"`
		Origin struct {
			Name string `json:"name"`
		} `json:"origin"`
		AvailabilityTopic    string            `json:"availability_topic"`
		AvailabilityTemplate string            `json:"availability_template"`
		Available            string            `json:"payload_available"`
		NotAvailable         string            `json:"payload_not_available"`
		Components           map[string]entity `json:"components"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields() // a key that Home Assistant does not know makes it refuse the entity
	if err := dec.Decode(&discovery); err != nil {
		t.Fatal(err)
	}
	reads := func(topic, template string) {
		m := haTemplate.FindStringSubmatch(template)
		if topic = strings.TrimPrefix(topic, "hil/motor/"); m == nil || !keys[topic][m[1]] {
			t.Errorf("%s of %s is not published", template, topic)
		}
	}
	reads(discovery.AvailabilityTopic, discovery.AvailabilityTemplate)
	ids := map[string]bool{}
	for name, e := range discovery.Components {
		switch e.Platform {
		case "sensor":
			reads(e.Topic, e.Template)
		case "button":
			if e.Command != "hil/motor/cmd/stop" || e.Press != "{}" {
				t.Errorf("%s orders %s %s", name, e.Command, e.Press)
			}
		default:
			t.Errorf("%s: platform %s", name, e.Platform)
		}
		if ids[e.UniqueID] || e.UniqueID == "" {
			t.Errorf("%s: unique id %q", name, e.UniqueID)
		}
		ids[e.UniqueID] = true
	}
	if len(ids) == 0 || len(discovery.Device.Identifiers) == 0 || discovery.Origin.Name == "" {
		t.Errorf("%+v", discovery)
	}
}

// Debian's reader of TOML reads the file; the topics, the key of the time, the strings and the tags are published. Strings that it does
// not name are dropped by Telegraf, so all of them are named.
func testTelegraf(t *testing.T, keys map[string]map[string]bool) {
	data, err := os.ReadFile("telegraf.conf")
	if err != nil {
		t.Fatal(err)
	}
	var conf struct {
		Inputs struct {
			Consumers []struct {
				Topics  []string `json:"topics"`
				Format  string   `json:"data_format"`
				Time    string   `json:"json_time_key"`
				Strings []string `json:"json_string_fields"`
				Tags    []string `json:"tag_keys"`
				Parts   []struct {
					Topic, Tags string
				} `json:"topic_parsing"`
			} `json:"mqtt_consumer"`
		} `json:"inputs"`
	}
	peer.Ask(t, "tomllib", string(data), &conf, "-c", "import json, sys, tomllib; json.dump(tomllib.loads(json.load(sys.stdin)), sys.stdout)")
	if len(conf.Inputs.Consumers) != 3 {
		t.Fatalf("%+v", conf)
	}
	for _, c := range conf.Inputs.Consumers {
		topic, found := strings.CutPrefix(c.Topics[0], "hil/+/")
		if !found || keys[topic] == nil || c.Format != "json" {
			t.Errorf("topic %v, format %s", c.Topics, c.Format)
			continue
		}
		for _, key := range slices.Concat([]string{c.Time}, c.Strings, c.Tags) {
			if !keys[topic][key] {
				t.Errorf("%s has no %s; it has %v", topic, key, slices.Sorted(maps.Keys(keys[topic])))
			}
		}
		if len(c.Parts) != 1 || c.Parts[0].Topic != c.Topics[0] || strings.Count(c.Parts[0].Tags, "/") != strings.Count(c.Topics[0], "/") {
			t.Errorf("parts of %s: %+v", topic, c.Parts)
		}
	}
}
