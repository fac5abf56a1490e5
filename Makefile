# Two commands matter: `make run` and `make test`. The rest is for those who change the program.
SHELL   := /bin/bash
GO      ?= go
BIN     := bin/hil
PREFIX  ?= $(HOME)/.local
# the newest version of CHANGELOG.md, the day and name of the commit, and whether files differ from it; Debian takes it as it is
VERSION := $(shell sed -n 's/^## \([0-9.]*\), .*/\1/p' CHANGELOG.md | head -1)+$(shell git log -1 --format=%cd.%h --date=format:%Y%m%d \
	--abbrev=10 2>/dev/null || echo development)$(shell git status --porcelain -uno 2>/dev/null | grep -q . && echo .changed)
# without the tables of a debugger, a quarter of the program; panics keep names and lines. With them: go build ./cmd/hil
LDFLAGS := -ldflags "-s -w -X hilrig/cmd/report.version=$(VERSION)"
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
# GOGC=400: a third less work for 1 GB of memory
LINTER  := GOGC=400 $(GO) run $(STATICCHECK)
FUZZTIME ?= 20s
# three packages at a time, since browsers, brokers and clusters wait more than they compute; but
# packages whose tests measure time: one after the other, nothing beside them; after them the daemons of cmd/hil, of which at most three
# that fail are repeated alone, in case the machine was too busy: the summary names them. They leave most of the processor
# to packages that only compute. What is not timed does a fifth less work with GOGC=400; the others run as a user's program does
TIMED   := ^hilrig/(hil/(daemon|device|ring|rt)|cmd/daemon)$$
COMPUTE := ^hilrig/(engine|estimator|identify)(/|$$)
DAEMONS := ^TestDaemon
TEST    := $(GO) test -json -vet=off -ldflags=-w -timeout 12m    # vetted by make vet; without the tables of a debugger they link in a third less
# what has the processor only while nobody else wants it
IDLE    := $(shell command -v chrt >/dev/null 2>&1 && echo chrt --idle 0)

.PHONY: run build install man static deb test race lint vet staticcheck fmt bench fuzz soak docs figures examples clean

run: build                ## build and start the daemon with a virtual rig: http://localhost:8080
	./$(BIN) run --with-parent $$PPID $(ARGS) || [ $$? = 130 ]    # whatever ends make ends it; 130: stopped with Ctrl-C, in the safe state

build:                    ## compile the program into bin/
	$(GO) build $(LDFLAGS) -o $(BIN) ./cmd/hil

install: build            ## copy the program to PREFIX/bin, default ~/.local/bin
	install -D -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/hil
	@command -v hil >/dev/null || echo "$(PREFIX)/bin is not on your PATH: add  export PATH=$(PREFIX)/bin:\$$PATH  to ~/.profile"

man:                      ## manual pages of all verbs into bin/man; read one with  man bin/man/hil-runs.1
	$(GO) test $(LDFLAGS) ./cmd/hil -run TestManualPages -count=1 -args -man $(CURDIR)/bin/man

static:                   ## programs without C libraries for clusters: docs/reference/study.md; the same bytes from the same commit
	for arch in amd64 arm64; do GOFLAGS= GOEXPERIMENT= GOAMD64=v1 GOARM64=v8.0 CGO_ENABLED=0 GOOS=linux GOARCH=$$arch \
		$(GO) build -trimpath -buildvcs=false $(LDFLAGS) -o bin/hil-linux-$$arch ./cmd/hil || exit 1; done

deb: static               ## Debian packages with the service for amd64 and arm64 in bin/: contrib/README.md; the same bytes from the same commit
	for arch in amd64 arm64; do SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) contrib/deb/build bin/hil-linux-$$arch $$arch \
		'$(VERSION)' bin/hil_'$(VERSION)'_$$arch.deb || exit 1; done

test: build vet           ## everything a change must pass; asks for nothing but Go, counts and names what it skipped
	@set -o pipefail; { bad=0; $(IDLE) env $(LINTER) -tests=false ./... >bin/staticcheck.txt 2>&1 & \
		GOGC=400 $(TEST) -p 3 -skip '$(DAEMONS)' $$($(GO) list ./... | grep -vE '$(TIMED)|$(COMPUTE)') || bad=1; \
		wait $$! || bad=1; \
		$(TEST) -p 1 $$($(GO) list ./... | grep -E '$(TIMED)') || bad=1; \
		$(IDLE) env GOGC=400 $(TEST) -p 3 $$($(GO) list ./... | grep -E '$(COMPUTE)') >bin/compute.json 2>&1 & \
		$(TEST) -run '$(DAEMONS)' ./cmd/hil -args -pairs | tee bin/daemons.json; well=$$?; \
		wait $$! || bad=1; cat bin/compute.json; \
		[ $$well = 0 ] || { again=$$($(GO) run ./cmd/testsum -failed <bin/daemons.json) && $(TEST) -run "$$again" ./cmd/hil || bad=1; }; \
		exit $$bad; } | $(GO) run ./cmd/testsum; \
		bad=$$?; cat bin/staticcheck.txt; exit $$bad

race:                     ## the packages that share memory between goroutines, under the race detector
	# without the tests of the whole daemon: under the detector its core takes too long for its own watchdogs
	$(GO) test -p 1 -race -short -timeout 12m -skip 'TestDaemon(Death|Demo|BrokerFrozen|TripExitCode|PageMoves)' ./hil/... ./cmd/... ./identify/... ./estimator/...

lint: vet staticcheck     ## formatting, vet, staticcheck, of tests too, for which make test has no time

vet:
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "gofmt would change:"; echo "$$out"; exit 1; fi
	GOGC=400 $(GO) vet -tags soak ./...    # the files of the soak besides all others but a constant in a few packages

staticcheck:
	$(LINTER) ./...

fmt:                      ## format
	gofmt -w $$(git ls-files '*.go')

bench:                    ## benchmarks, then the tables of docs/evidence/identify-speed.md; SciPy with numba if it is there
	$(GO) test -run '^$$' -bench . -benchmem ./engine/... ./estimator/... ./hil/... ./identify/...
	$(GO) test ./engine/population -count=1 -run TestCostTable -v -args -costs
	$(GO) test ./identify/axis -count=1 -run TestSpeedTable -v -timeout 30m -args -rival
	$(GO) test ./identify -count=1 -run 'EverydaySpeed|RegressSpeed' -v -timeout 30m -args -rival

fuzz:                     ## every fuzz target for FUZZTIME each
	@set -e; for p in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
		echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x $$p; done; done

soak: build lint          ## the long checks: starts at 10 kHz, frozen broker, latency against cyclictest, absurd files, fits over many records
	$(GO) test -p 1 -tags soak -timeout 60m -count=1 -v -run 'Soak|AgainstIdeal|RatesAndLosses|LawOfTheContact|StudyInterrupted|Demo|Broker|Flood|Freeze|Frozen|Replugs|Absurd|FirstMotor|Ends|Outlives|Interrupted|StillCore|DaemonOrders|HandOver|MissingSamples' ./hil ./hil/rt ./hil/device ./hil/sink ./cmd/hil
	$(GO) test -tags soak -timeout 60m -parallel 6 -count=1 -v -run BoardFaults ./cmd/hil    # the tables of docs/evidence/safety.md
	@set -e; for f in FuzzLoad FuzzFiles FuzzSimulate; do $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime 3m -fuzzminimizetime 5x ./configs; done
	$(GO) test -run '^$$' -fuzz '^FuzzParseUnit$$' -fuzztime 3m -fuzzminimizetime 5x ./configs/schema
	$(GO) test -p 1 -tags soak -timeout 60m -count=1 ./identify/...    # coverage over many records, every start, rivals of SciPy
	$(GO) test -p 1 -tags soak -timeout 60m -count=1 -v -run Coverage ./cmd/identify    # intervals of machines over records
	$(GO) test -p 1 -tags soak -timeout 60m -count=1 -v -run Soak ./estimator    # estimates against the ideal filter, every axis and rate
	$(GO) test -p 1 -tags soak -timeout 60m -count=1 ./contrib    # packages, Prometheus, Node-RED, schemas
	$(GO) test -p 1 -tags soak -timeout 60m -count=1 ./hil/models    # rival laws under every seed
	$(GO) test -p 1 -tags soak -timeout 60m -count=1 ./engine/lcp ./engine/contact ./engine/plant/brush    # criteria of the brush over seeds and designs
	./$(BIN) latency --pair

docs:                     ## renew what pages of docs take from the source
	$(GO) test ./configs ./cmd/exportmodel ./cmd/simulate ./cmd/study ./hil ./hil/sink ./cmd/hil -count=1 \
		-run 'Docs|(Laws|Export|Rolling|Beam)Doc$$|ResultSchema|Tutorials' -args -update

figures: build docs       ## redraw the figures of the README and docs
	$(GO) test ./hil ./cmd/hil -run Figure -count=1 -args -figures
	./$(BIN) simulate configs/compare-laws.yaml --plot docs/img/laws.png --force
	./$(BIN) study rolling-friction --plot --out runs/rolling-friction && cp runs/rolling-friction/summary.png docs/img/rolling-friction.png
	./$(BIN) study beam-figures --plot --out runs/beam-figures && cp runs/beam-figures/summary.png docs/img/beam.png

examples: build           ## make the synthetic records under runs/, then run every example of identification; results beside them
	@mkdir -p runs
	@grep -ho 'hil simulate configs/identify/[^ ]* -o [^ ]*' configs/identify/*.yaml | while read -r c; do echo "$$c"; ./bin/$$c --force >runs/simulate.log 2>&1 || { cat runs/simulate.log; exit 1; }; done
	@for f in $$(grep -l '^data:' configs/*.yaml configs/identify/*.yaml); do \
		verb=identify; case $$f in *-compare.yaml) verb=compare;; esac; \
		if ./bin/hil check $$f | grep -q 'is not there'; then echo "$$f: its record is not here"; continue; fi; \
		printf '\n%s\n' "hil $$verb $$f"; ./bin/hil $$verb $$f --force -o runs/$$(basename $$f .yaml).json 2>/dev/null; \
		case $$? in 0|6) ;; *) ./bin/hil $$verb $$f >/dev/null; exit 1;; esac; done    # 6: what the record supports is to be refused

clean:                    ## remove what was built; recordings under runs/ stay
	rm -rf bin
