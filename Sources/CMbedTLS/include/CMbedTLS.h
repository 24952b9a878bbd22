// Mbed TLS: TLS client, certificates, HMAC.
#ifndef CMBEDTLS_H
#define CMBEDTLS_H
#include <mbedtls/base64.h>
#include <mbedtls/md.h>
#endif
