package cli

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/spf13/cobra"
)

// serveFlags are the flags of serve; a configuration file has the same names.
type serveFlags struct {
	data, listen, config string
	memory               size
	maxBody, maxItem     size
	maxInFlight          size
	maxHeaders           size
	req                  control.ServeRequest
}

func (p *program) serve() *cobra.Command {
	f := &serveFlags{memory: 256 << 20}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a data folder as a document store with the OpenSearch API",
		Long: `Serve a data folder as a document store with the OpenSearch API.

A write is on disk when it is acknowledged. One process serves a folder; it
listens on loopback, and on a socket in the folder for the verbs with --at DIR.
SIGTERM lets it finish the requests that it has accepted, within 8 seconds.
GET /health/live and /health/ready are answered while the folder is opened, too.

--config names a YAML file with the flags' names as keys:

  data: /var/lib/reshelve
  listen: 127.0.0.1:9200
  memory: 512MiB

A flag wins over the file; a flag that may be repeated is a list there.

Two kinds of requests are refused: those whose Host is another name than localhost, unless
--allow-host names it, and those that a browser sends for a page of another origin, unless
--allow-origin names that. A request over a limit is refused with 400, 413 or 429, never
queued without bound.`,
		Example: "  reshelve serve --data ./data\n  reshelve serve --data ./data --listen 127.0.0.1:9201 --memory 512MiB",
		Args:    cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.data, "data", "data", "the data folder, made when it is not there: a `DIR`")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:9200", "the loopback address: `HOST:PORT`; port 0: any free one")
	flags.StringArrayVar(&f.req.AllowHosts, "allow-host", nil, "a `NAME` that requests may have in Host, besides localhost and the addresses of loopback: for a proxy that passes its own Host on; may be repeated")
	flags.StringArrayVar(&f.req.AllowOrigins, "allow-origin", nil, "the `URL` of an origin, scheme://host[:port], whose pages may send requests and read the answers (CORS); may be repeated")
	flags.StringVar((*string)(&f.req.Compat), "compat", "", "accept the clients of another `PRODUCT` too: elasticsearch, for its clients of 7.17, 8 and 9, which refuse any other server; answers then name that product")
	flags.StringArrayVar(&f.req.Allow.Repositories, "allow-repository", nil, "a `PREFIX` of locations, folders too: movements that are ordered by HTTP may read repositories at and below it; without this flag, none; may be repeated")
	flags.StringArrayVar(&f.req.Allow.Sources, "allow-source", nil, "the `URL` of a cluster of which movements that are ordered by HTTP may take snapshots, with the credentials in RESHELVE_SOURCE_…; may be repeated")
	flags.Var(&f.memory, "memory", "the memory to stay below")
	flags.StringVar(&f.config, "config", "", "a YAML `FILE` with these flags' names as keys")
	flags.StringVar(&f.req.LeaveOut, "leave-out", "", "open a folder with a damaged log without the changes from this place on, which are lost: `LOG:BYTE`, as the refusal of the folder names it, with what it costs; the log as it was is kept in the folder left-out")
	flags.Var(&f.maxBody, "max-body", "the largest body of a request, as sent and after decompression; 0: 100MiB")
	flags.Var(&f.maxItem, "max-item", "the largest document; 0: a sixteenth of --memory")
	flags.Var(&f.maxInFlight, "max-in-flight", "the bodies of all requests at work; beyond it they get 429, and 413 what is beyond it alone; 0: a quarter of --memory")
	flags.Var(&f.maxHeaders, "max-headers", "the headers of a request; 0: 64KiB")
	flags.IntVar(&f.req.Limits.Depth, "max-depth", 0, "how deep objects and arrays may nest in a body; 0: 1000")
	flags.IntVar(&f.req.Limits.Connections, "max-connections", 0, "how many connections may be open at once; one more waits until another is closed; 0: 4096, or half of the files that the process may open")
	flags.DurationVar(&f.req.Limits.Timeout, "timeout", 0, "how long a request may take to arrive; 0: 5m")
	cmd.RunE = p.verb(func(ctx context.Context, _ []string) error {
		req, err := f.request(cmd)
		if err != nil {
			return err
		}
		req.Logger = slog.New(slog.NewTextHandler(p.stderr, nil))
		return p.control.Serve(ctx, req, p.tellServing)
	})
	return cmd
}

// request gathers the flags and the configuration file.
func (f *serveFlags) request(cmd *cobra.Command) (control.ServeRequest, error) {
	if err := configure(cmd, f.config); err != nil {
		return control.ServeRequest{}, err
	}
	if err := enoughMemory(cmd); err != nil { // of the file
		return control.ServeRequest{}, err
	}
	req := f.req
	switch {
	case f.data == "":
		return req, fault.WithNext(fault.New(fault.Usage, "--data is empty"), "name a folder: --data DIR")
	case req.Limits.Depth < 0 || req.Limits.Timeout < 0 || req.Limits.Connections < 0:
		return req, fault.WithNext(fault.New(fault.Usage, "--max-depth, --timeout or --max-connections is negative"), "write a number above 0, or 0 for the default")
	}
	req.Data, req.Listen, req.Memory = f.data, f.listen, int64(f.memory)
	req.Limits.BodyBytes, req.Limits.ItemBytes = int64(f.maxBody), int64(f.maxItem)
	req.Limits.InFlightBytes, req.Limits.HeaderBytes = int64(f.maxInFlight), int64(f.maxHeaders)
	return req, nil
}

// tellServing is the one line, on standard error, that says that requests are answered.
func (p *program) tellServing(s control.Serving) {
	if p.output == "json" {
		_ = printLine(p.stderr, s)
		return
	}
	p.note("serving %s on %s: %s in %s, ready after %d ms",
		s.Data, s.Address, counted(s.Documents, "document"), counted(int64(s.Indices), "index"), s.TookMillis)
}

// leastMemory is what a process with a store in it takes by itself: one that serves 2,000 documents in 64 shards, or
// migrates as few, had 52 to 58 MiB, whatever it was told to stay below.
const leastMemory = 64 << 20

// enoughMemory refuses a --memory that no process can stay below.
func enoughMemory(cmd *cobra.Command) error {
	flag := cmd.Flags().Lookup("memory")
	if flag == nil {
		return nil
	}
	if memory, is := flag.Value.(*size); is && *memory < leastMemory {
		err := fault.New(fault.Usage, "--memory is %s: the program and an empty store take more than 50 MiB by themselves", bytesText(int64(*memory)))
		return fault.WithNext(err, "name a size to stay below: --memory 256MiB, which is the default, and no less than --memory 64MiB")
	}
	return nil
}

// size is a flag that takes a number of bytes: 4096, 64KiB, 100MiB, 2GiB, or with
// KB, MB, GB for powers of 1000.
type size int64

func (s *size) Type() string { return "SIZE" }

func (s *size) String() string {
	for _, unit := range units {
		if n := int64(*s); n >= unit.bytes && n%unit.bytes == 0 {
			return fmt.Sprintf("%d%s", n/unit.bytes, unit.name)
		}
	}
	return fmt.Sprint(int64(*s))
}

// Set reads a size.
func (s *size) Set(text string) error {
	n, err := parseSize(text)
	*s = size(n)
	return err
}
