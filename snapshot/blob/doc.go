// Package blob reads the blobs of a snapshot repository, wherever it lives.
//
// One contract, [Bucket], has six adapters and a handful of decorators. An
// adapter speaks one store's protocol and nothing else; retries, read-ahead
// and counting wrap the contract and are stacked in one function, [Stack]:
//
//	caller → ReadAhead → Retry → Meter → adapter → store
//
// so the meter sees each request that really leaves the process, and a
// sub-range that the read-ahead asked for is retried by itself.
//
// # Locations
//
// [Open] reads a location. What is not secret stands in it, as query
// parameters; credentials never do: they come from the environment variables
// and files that the vendor's own tools read.
//
//	DIR, file:///DIR              a folder
//	s3://BUCKET/PREFIX            region= endpoint= path-style= anonymous= requester-pays= profile=
//	gs://BUCKET/PREFIX            endpoint= anonymous= user-project=
//	az://CONTAINER/PREFIX         account= endpoint= anonymous=
//	http://HOST/PATH, https://…   no parameters; such a store cannot list
//
//	s3    AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (AWS_SESSION_TOKEN), the
//	      AWS files with AWS_PROFILE, web identity and container credentials,
//	      the instance role; AWS_REGION or AWS_DEFAULT_REGION;
//	      AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL
//	gs    application default credentials (GOOGLE_APPLICATION_CREDENTIALS, the
//	      gcloud file, the metadata server); STORAGE_EMULATOR_HOST
//	az    AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT with
//	      AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN or Azure's default chain
//	http  RESHELVE_HTTP_AUTHORIZATION, sent as the Authorization header
//
// A parameter in the location wins over the environment. A location is a URL:
// a space, %, ? or # in a bucket's prefix is percent-encoded.
//
// A bucket of [Open] can open the location around it (snapshot.Outside): some
// repositories keep shards beside their base path.
//
// # Terms
//
//   - key: a blob's name, slash-separated, relative to the repository's root.
//   - prefix: of a location, what stands before every key; of a listing, how
//     the keys begin.
//   - range: offset and length in bytes; a negative length means to the end.
//   - piece: one sub-range that the read-ahead asks for in one request.
//
// # Invariants
//
//  1. No key leaves the repository's root: [CheckKey], and in a folder the
//     operating system too (symbolic links that point out are not followed).
//  2. An error has a kind, set where the store's answer is known: missing is
//     NotFound, refused credentials Unauthorised, what may pass Transient, and
//     after the last attempt Unavailable.
//  3. No error and no log line holds a secret: query strings and user
//     information never enter a place or a message.
//  4. A stream delivers each byte of its range at most once and in order,
//     across retries and pieces; it never asks for a byte outside its range.
//  5. Closing a stream or cancelling its context ends every request that it
//     started; Close returns after they have ended.
//
// Absent on purpose: writing (it comes with the first caller that writes), a
// cache (every byte is read once), and a Close of buckets (idle connections
// end by themselves within a minute).
package blob
