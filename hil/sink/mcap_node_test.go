package sink

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/engine/peer"
)

// The reader of the MCAP project itself (npm @mcap/core) opens a recording by its index, checks every CRC, and finds
// what was put in. Decompression comes from a second implementation too (npm fzstd).
func TestOfficialReaderAgrees(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: needs node and npm packages")
	}
	modules := peer.NodeModules(t, "@mcap/core@2.2.2", "fzstd@0.1.1")
	const rows, signals = 5000, 35
	dir := record(t, rows, signals, RecorderOptions{})

	cmd := exec.Command("node", "--input-type=commonjs", "-e", nodeReader, "--", filepath.Join(dir, runFile))
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	var got struct {
		Library     string
		Counts      map[string]int // per topic, by reading all messages
		Statistics  map[string]int // per topic, from the summary
		Chunks      int
		Indexed     int // messages listed by the message indices
		Middle      int // rows with a log time within one second, found through the index
		Units       map[string]string
		Metadata    map[string]string
		Attachment  string
		Mismatch    []string // rows whose numbers differ from the generator's
		NullAt      int      // rows with a null
		SchemaNames []string
		Streamed    int // messages the streaming reader sees, which checks every chunk in order
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if got.Counts["rows"] != rows || got.Statistics["rows"] != rows {
		t.Errorf("%d rows read, %d in the statistics, want %d", got.Counts["rows"], got.Statistics["rows"], rows)
	}
	if got.Counts["events"] != 1 || got.Counts["params"] != 1 || got.Counts["clock"] < 1 {
		t.Errorf("messages %v", got.Counts)
	}
	total := 0
	for _, n := range got.Counts {
		total += n
	}
	if got.Indexed != total || got.Streamed != total {
		t.Errorf("indices list %d messages, streaming finds %d, want %d", got.Indexed, got.Streamed, total)
	}
	if got.Middle != 1001 {
		t.Errorf("%d rows from second 2 to 3, want 1001", got.Middle)
	}
	if len(got.Mismatch) > 0 || got.NullAt != rows/100 {
		t.Errorf("rows differ: %v; %d rows with null, want %d", got.Mismatch, got.NullAt, rows/100)
	}
	if got.Units["block0.signal0"] != "rad" || got.Units["late_us"] != "us" {
		t.Errorf("units in the schema: %v", got.Units)
	}
	if got.Metadata["rig"] != "bench" || got.Attachment != string(benchInfo(1).Config) || got.Chunks < 2 {
		t.Errorf("metadata %v, attachment %q, %d chunks", got.Metadata, got.Attachment, got.Chunks)
	}
	if strings.Join(got.SchemaNames, " ") != "hil.Row hil.Event hil.Params hil.Clock" || !strings.HasPrefix(got.Library, "hil ") {
		t.Errorf("schemas %v, library %q", got.SchemaNames, got.Library)
	}
}

const nodeReader = `
const fs = require("fs"), { McapIndexedReader, McapStreamReader } = require("@mcap/core"), fzstd = require("fzstd");
const data = fs.readFileSync(process.argv[process.argv.length - 1]);
const readable = {
	size: async () => BigInt(data.length),
	read: async (at, n) => new Uint8Array(data.subarray(Number(at), Number(at + n))),
};
const decompressHandlers = { zstd: (b, size) => fzstd.decompress(b, new Uint8Array(Number(size))) };
(async () => {
	const r = await McapIndexedReader.Initialize({ readable, decompressHandlers });
	const topic = id => r.channelsById.get(id).topic;
	const res = { Library: r.header.library, Counts: {}, Statistics: {}, Chunks: r.chunkIndexes.length, Indexed: 0, Middle: 0, Units: {}, Mismatch: [], NullAt: 0,
		SchemaNames: [...r.schemasById.values()].map(s => s.name), Streamed: 0 };
	for (const [id, n] of r.statistics.channelMessageCounts) res.Statistics[topic(id)] = Number(n);
	const schema = JSON.parse(new TextDecoder().decode([...r.schemasById.values()][0].data));
	for (const [k, v] of Object.entries(schema.properties)) res.Units[k] = v.unit;
	let first;
	for await (const m of r.readMessages({ validateCrcs: true })) {
		res.Counts[topic(m.channelId)] = (res.Counts[topic(m.channelId)] || 0) + 1;
		const row = JSON.parse(new TextDecoder().decode(m.data));
		if (topic(m.channelId) !== "rows") continue;
		first = first ?? m.logTime;
		let nulls = 0;
		for (let i = 0; i < 35; i++) {
			const x = row["block" + i % 4 + ".signal" + i];
			if (x === null) { nulls++; continue; }
			const want = Math.sin(row.seq * 1e-3 * (i + 1)) * Math.sqrt(i + 2);
			if (!(Math.abs(x - want) < 1e-12) && res.Mismatch.length < 5) res.Mismatch.push(row.seq + " " + i + ": " + x + " " + want);
		}
		if (nulls && row.nonfinite["block2.signal2"] === "nan") res.NullAt++;
	}
	for await (const m of r.readMessages({ topics: ["rows"], startTime: first + 2000000000n, endTime: first + 3000000000n })) res.Middle++;
	for await (const a of r.readAttachments()) res.Attachment = new TextDecoder().decode(a.data);
	for await (const m of r.readMetadata()) res.Metadata = Object.fromEntries(m.metadata);
	const s = new McapStreamReader({ decompressHandlers, validateCrcs: true });
	s.append(new Uint8Array(data));
	for (let rec; (rec = s.nextRecord()); ) {
		if (rec.type === "Message") res.Streamed++;
		if (rec.type === "MessageIndex") res.Indexed += rec.records.length;
	}
	if (!s.done()) throw new Error("the streaming reader is not at the end");
	console.log(JSON.stringify(res));
})().catch(e => { console.error(e); process.exit(1); });
`
