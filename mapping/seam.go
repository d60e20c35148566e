package mapping

func readGeo(w *walk, f *Field, t token) error { return nil }

func readNullPoint(_ *reading, _ *Field, _ string, v any) (any, error) { return point{}, nil }
