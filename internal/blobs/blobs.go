// Package blobs keeps bytes under names in a bucket of S3, or of what speaks it, for machines that share no folder.
package blobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Variables with the credential, as other programs have them.
const (
	envKey    = "AWS_ACCESS_KEY_ID"
	envSecret = "AWS_SECRET_ACCESS_KEY" //nolint:gosec // its name
	envToken  = "AWS_SESSION_TOKEN"
	envFile   = "AWS_SHARED_CREDENTIALS_FILE"
)

// patience bounds one request, with its retries.
const patience = 30 * time.Second

// Store is a bucket, or the part of it below a prefix.
type Store struct {
	client         *minio.Client
	bucket, prefix string
	secrets        []string
}

// Open reads an address: s3://BUCKET/PREFIX?endpoint=URL&region=NAME. Without an endpoint it is Amazon's. The credential is in the variables
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or in the file of AWS_SHARED_CREDENTIALS_FILE, which only its owner may read. No
// request is sent.
func Open(address string, getenv func(string) string) (*Store, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return nil, errors.New("the address of a blob store is s3://BUCKET/PREFIX?endpoint=URL&region=NAME, without a credential")
	}
	query := u.Query()
	end := &url.URL{Scheme: "https", Host: "s3.amazonaws.com"}
	for key, values := range query {
		if len(values) != 1 || key != "endpoint" && key != "region" {
			return nil, fmt.Errorf("the address of a blob store has an endpoint and a region, not %q", key)
		}
	}
	if given := query.Get("endpoint"); given != "" {
		end, err = url.Parse(given)
		if err != nil || end.Scheme != "https" && end.Scheme != "http" || end.Host == "" || end.User != nil || strings.Trim(end.Path, "/") != "" || end.RawQuery != "" {
			return nil, errors.New("the endpoint of a blob store is an address such as https://s3.example.com")
		}
	}
	value, err := credential(getenv)
	if err != nil {
		return nil, err
	}
	transport, err := minio.DefaultTransport(end.Scheme == "https")
	if err != nil {
		return nil, err
	}
	transport.ResponseHeaderTimeout = patience
	client, err := minio.New(end.Host, &minio.Options{
		Creds: credentials.NewStatic(value.AccessKeyID, value.SecretAccessKey, value.SessionToken, credentials.SignatureV4), Secure: end.Scheme == "https",
		Region: query.Get("region"), Transport: transport, MaxRetries: 3,
	})
	if err != nil {
		return nil, err
	}
	s := &Store{client: client, bucket: u.Host, prefix: strings.Trim(u.Path, "/")}
	for _, secret := range []string{value.SecretAccessKey, value.SessionToken} {
		if secret != "" {
			s.secrets = append(s.secrets, secret)
		}
	}
	return s, nil
}

func credential(getenv func(string) string) (v credentials.Value, err error) {
	v = credentials.Value{AccessKeyID: getenv(envKey), SecretAccessKey: getenv(envSecret), SessionToken: getenv(envToken)}
	if file := getenv(envFile); v.SecretAccessKey == "" && file != "" {
		info, err := os.Stat(file)
		if err != nil {
			return v, fmt.Errorf("read the credential of the blob store: %w", err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			return v, fmt.Errorf("the file %s of %s can be read by others: chmod 600", file, envFile)
		}
		if v, err = credentials.NewFileAWSCredentials(file, "").Get(); err != nil { //nolint:staticcheck // a file needs no client
			return v, fmt.Errorf("the file %s of %s has no credential that can be read", file, envFile)
		}
	}
	if v.AccessKeyID == "" || v.SecretAccessKey == "" {
		return v, fmt.Errorf("the blob store has no credential: set %s and %s, or %s", envKey, envSecret, envFile)
	}
	return v, nil
}

// Secrets are what must not stand in any text.
func (s *Store) Secrets() []string { return s.secrets }

// String names the store, without a credential.
func (s *Store) String() string {
	return "s3://" + path.Join(s.bucket, s.prefix) + " at " + s.client.EndpointURL().Host
}

// place is where a name stands in the bucket; none leaves the prefix.
func (s *Store) place(name string) (string, error) {
	if !fs.ValidPath(name) || name == "." {
		return "", fmt.Errorf("%q is no name in the blob store %s", name, s)
	}
	return path.Join(s.prefix, name), nil
}

// Put keeps bytes, one at least, under a name, in place of those there were. Names are those of fs.ValidPath.
func (s *Store) Put(ctx context.Context, name string, data []byte) error {
	at, err := s.place(name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err = s.client.PutObject(ctx, s.bucket, at, bytes.NewReader(data), int64(len(data)),
		minio.PutObjectOptions{ContentType: "application/octet-stream", DisableMultipart: true})
	return s.wrap("put "+name, err)
}

// Get reads what is under a name, at most so many bytes. ErrMissing when there is nothing.
func (s *Store) Get(ctx context.Context, name string, most int64) ([]byte, error) {
	at, err := s.place(name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	o, err := s.client.GetObject(ctx, s.bucket, at, minio.GetObjectOptions{})
	if err != nil {
		return nil, s.wrap("get "+name, err)
	}
	defer o.Close()
	data, err := io.ReadAll(io.LimitReader(o, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	return data, s.wrap("get "+name, err)
}

// Remove removes all whose names begin with a folder's.
func (s *Store) Remove(ctx context.Context, folder string) error {
	at, err := s.place(folder)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for o := range s.client.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{Prefix: at + "/", Recursive: true}) {
		if o.Err != nil {
			return s.wrap("list "+folder, o.Err)
		}
		if err := s.client.RemoveObject(ctx, s.bucket, o.Key, minio.RemoveObjectOptions{}); err != nil {
			return s.wrap("remove "+folder, err)
		}
	}
	return s.wrap("remove "+folder, ctx.Err())
}

// ErrMissing: the store has nothing of a name.
var ErrMissing = errors.New("the blob store does not have it")

func (s *Store) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	if r := minio.ToErrorResponse(err); r.StatusCode == http.StatusNotFound && r.Code == minio.NoSuchKey {
		err = ErrMissing
	}
	return fmt.Errorf("%s in the blob store %s: %w", op, s, err)
}
