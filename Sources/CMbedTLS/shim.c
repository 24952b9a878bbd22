#include "CMbedTLS.h"

int cmbedtls_random(void *unused, unsigned char *output, size_t size) {
    (void) unused;
    return mbedtls_psa_get_random(MBEDTLS_PSA_RANDOM_STATE, output, size);
}
