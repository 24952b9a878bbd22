#include "CMbedTLS.h"

int cmbedtls_random(void *unused, unsigned char *output, size_t size) {
    (void) unused;
    return mbedtls_psa_get_random(MBEDTLS_PSA_RANDOM_STATE, output, size);
}

int cmbedtls_received_alert(const mbedtls_ssl_context *session) {
    // An alert consists of two bytes: level and description.
    return session->MBEDTLS_PRIVATE(in_msg) == NULL ? -1 : session->MBEDTLS_PRIVATE(in_msg)[1];
}

const unsigned char *cmbedtls_received_handshake_message(const mbedtls_ssl_context *session, size_t *length) {
    // A record may hold several messages, so it is at least as long as the first.
    const size_t message = session->MBEDTLS_PRIVATE(in_hslen);
    *length = message <= session->MBEDTLS_PRIVATE(in_msglen) ? message : 0;
    return session->MBEDTLS_PRIVATE(in_msg);
}
