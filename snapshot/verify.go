package snapshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/snapshot/internal/lucene"
	"golang.org/x/sync/errgroup"
)

// VerifyOptions bound a verification.
type VerifyOptions struct {
	// Index tells which indices are wanted; nil wants all.
	Index func(name string) bool
	// Parallel is how many files are read at a time; ≤ 0 means 4.
	Parallel int
	// Progress, when set, is called after each file with the sums so far, by one
	// goroutine at a time.
	Progress func(Verification)
}

// Verification is what a verification checked and found. Its numbers grow while
// it runs.
type Verification struct {
	Indices   int
	Shards    int
	Segments  int
	Files     int   // files of shards, each read whole unless it is virtual
	Bytes     int64 // of those
	Unchecked int   // files of those without a checksum: Lucene wrote them before 4.8
	Documents int64 // live Lucene documents, nested ones included
	Problems  []error
}

// verifier runs one verification.
type verifier struct {
	opts    VerifyOptions
	indices []*Index // that could be read

	mu   sync.Mutex
	done Verification
}

// Verify reads every file of the snapshot's shards to its footer and compares
// lengths, checksums and counts. What is damaged or missing is listed in
// Problems, with its place, and the rest goes on; an error is returned only when
// it cannot go on, for example because the bucket fails.
func (s *Snapshot) Verify(ctx context.Context, opts VerifyOptions) (Verification, error) {
	if opts.Parallel <= 0 {
		opts.Parallel = 4
	}
	v := &verifier{opts: opts}
	if s.GlobalState {
		_, err := s.Global(ctx)
		if err := v.problem(err); err != nil {
			return v.done, err
		}
	}
	for _, name := range s.Indices {
		if opts.Index != nil && !opts.Index(name) {
			continue
		}
		if err := v.index(ctx, s, name); err != nil {
			return v.done, err
		}
	}
	var err error
	if len(v.indices) == len(s.Indices) {
		err = v.problem(s.CheckShards(v.indices))
	}
	return v.done, err
}

// problem lists damage and refusals and returns what ends the verification.
func (v *verifier) problem(err error) error {
	if !isProblem(err) {
		return err
	}
	v.done.Problems = append(v.done.Problems, err)
	return nil
}

// isProblem tells what is listed from what ends the verification.
func isProblem(err error) bool {
	if errors.Is(err, errDeleted) {
		return false
	}
	return fault.Is(err, fault.Corrupt) || fault.Is(err, fault.Refused) || fault.Is(err, fault.NotFound)
}

func (v *verifier) index(ctx context.Context, s *Snapshot, name string) error {
	idx, err := s.Index(ctx, name)
	if err != nil {
		return v.problem(err)
	}
	v.done.Indices++
	v.indices = append(v.indices, idx)
	for n := range idx.Shards {
		if err := v.shard(ctx, idx, n); err != nil {
			return err
		}
	}
	return nil
}

// shard checks the shard's files in parallel, and then, where they are sound,
// that they fit together.
func (v *verifier) shard(ctx context.Context, idx *Index, n int) error {
	sh, err := idx.Shard(ctx, n)
	if err != nil {
		return v.problem(err)
	}
	v.done.Shards++
	if err := v.problem(sh.lostIndex(ctx)); err != nil {
		return err
	}
	if !sh.Index.snapshot.layout.plain { // 1.x has no shard index
		if err := v.problem(sh.compareIndex(ctx, sh.Path+"/"+sh.Index.snapshot.layout.snapKey())); err != nil {
			return err
		}
	}
	sound, err := v.files(ctx, sh)
	if err != nil || !sound {
		return err
	}
	return v.problem(v.structure(ctx, sh))
}

// files checks the shard's files, several at a time; what is wrong is listed in the
// order of their names.
func (v *verifier) files(ctx context.Context, sh *Shard) (sound bool, err error) {
	wrong := make([]error, len(sh.Files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(v.opts.Parallel)
	for i := range sh.Files {
		f := &sh.Files[i]
		group.Go(func() error {
			err := fault.At(sh.checkFile(ctx, f), sh.Path, "file "+f.Name)
			if err != nil && !isProblem(err) {
				return err
			}
			wrong[i] = err
			v.file(f)
			return nil
		})
	}
	err = group.Wait()
	wrong = slices.DeleteFunc(wrong, func(err error) bool { return err == nil })
	v.done.Problems = append(v.done.Problems, wrong...)
	return len(wrong) == 0, err
}

// file counts a file that was checked.
func (v *verifier) file(f *File) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.done.Files++
	v.done.Bytes += f.Length
	if f.old {
		v.done.Unchecked++
	}
	if v.opts.Progress != nil {
		v.opts.Progress(v.done)
	}
}

// structure opens the commit and its segments and compares their counts.
func (v *verifier) structure(ctx context.Context, sh *Shard) error {
	sum, err := sh.Summary(ctx)
	if err != nil {
		return err
	}
	v.done.Segments += len(sum.Segments)
	v.done.Documents += sum.Live()
	return nil
}

// checkFile reads one file to its end. A blob that is longer than the manifest
// says is damage as well as one that is shorter.
func (sh *Shard) checkFile(ctx context.Context, f *File) error {
	info, _ := sh.Stat(f.Name)
	if f.Content != nil && !f.old {
		if err := lucene.CheckFile(bytes.NewReader(f.Content), info); err != nil || f.Virtual {
			return fault.At(err, "in the manifest")
		}
	}
	for _, part := range sh.parts(f) {
		size, err := sh.Index.snapshot.repo.bucket.Size(ctx, part.Key)
		if fault.Is(err, fault.NotFound) {
			return sh.Index.snapshot.orDeleted(ctx, fault.New(fault.Corrupt, "blob %s is missing", part.Key))
		} else if err != nil {
			return err
		}
		if size != part.Size {
			return fault.New(fault.Corrupt, "blob %s has %d bytes, the manifest says %d", part.Key, size, part.Size)
		}
	}
	if f.unsure && f.Length >= footerLength {
		if err := sh.lookForFooter(ctx, f); err != nil {
			return err
		}
	}
	if f.old {
		return nil // its length is all that can be checked
	}
	r, err := sh.openBlobs(ctx, f, 0, f.Length)
	if err != nil {
		return err
	}
	defer r.Close()
	return fault.At(lucene.CheckFile(r, info), fmt.Sprintf("blob %s", f.Blob))
}

// lookForFooter finds out of a file of a Lucene that is not named whether it ends with a footer.
func (sh *Shard) lookForFooter(ctx context.Context, f *File) error {
	r, err := sh.openBlobs(ctx, f, f.Length-footerLength, footerLength)
	if err != nil {
		return err
	}
	defer r.Close()
	footer := make([]byte, footerLength)
	if _, err := io.ReadFull(r, footer); err != nil {
		return err
	}
	f.old = binary.BigEndian.Uint32(footer) != footerMagic
	return nil
}
