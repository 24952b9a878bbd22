// Mbed TLS: TLS client and server, certificates, digests.
#ifndef CMBEDTLS_H
#define CMBEDTLS_H
#include <mbedtls/base64.h>
#include <mbedtls/error.h>
#include <mbedtls/md.h>
#include <mbedtls/net_sockets.h>
#include <mbedtls/oid.h>
#include <mbedtls/psa_util.h>
#include <mbedtls/ssl.h>
#include <mbedtls/x509_crt.h>
#include <psa/crypto.h>

// Threads share contexts.
#ifndef MBEDTLS_THREADING_C
#error "Mbed TLS without MBEDTLS_THREADING_C"
#endif

// mbedtls_psa_get_random and its state, which is a macro.
int cmbedtls_random(void *unused, unsigned char *output, size_t size);

// AlertDescription of the alert that made a call fail with MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE (RFC 8446 section 6). The
// library keeps it in a private field.
int cmbedtls_received_alert(const mbedtls_ssl_context *session);

// The latest received handshake message with its header, and its length; 0 while it is incomplete. The library keeps it in
// private fields.
const unsigned char *cmbedtls_received_handshake_message(const mbedtls_ssl_context *session, size_t *length);

// Makes a key (ECDSA, P-256) and a certificate for `names` that it signs itself, and writes both into `pem`, as one text that
// ends with a zero. Returns 0, or Mbed TLS's error.
int cmbedtls_make_identity(const char *const *names, size_t count, unsigned char *pem, size_t size);
#endif
