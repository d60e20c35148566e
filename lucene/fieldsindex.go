package lucene

import "context"

// indexFiles names the files that tell where the chunks of stored fields are.
type indexFiles struct {
	dir    Directory
	index  string // .fdx
	meta   string // .fdm, which only newer formats have
	id     ID
	suffix string
}

func (f indexFiles) readChunkSize(ctx context.Context) (int, error) {
	in, err := readFile(ctx, f.dir, f.meta)
	if err != nil {
		return 0, err
	}
	in.indexHeader(f.id, f.suffix)
	return int(in.vint()), in.err
}
