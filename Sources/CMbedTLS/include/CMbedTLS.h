// Mbed TLS: TLS client, certificates, digests.
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

// mbedtls_psa_get_random and its state, which is a macro.
int cmbedtls_random(void *unused, unsigned char *output, size_t size);
#endif
