#include "CMbedTLS.h"
#include <string.h>

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

// A name beyond these is left out of the certificate.
enum { MOST_NAMES = 8 };

static int set_names(mbedtls_x509write_cert *certificate, const char *const *names, size_t count) {
    mbedtls_x509_san_list list[MOST_NAMES] = {0};
    if (count > MOST_NAMES) count = MOST_NAMES;
    for (size_t index = 0; index < count; index++) {
        list[index].node.type = MBEDTLS_X509_SAN_DNS_NAME;
        list[index].node.san.unstructured_name.p = (unsigned char *) names[index];
        list[index].node.san.unstructured_name.len = strlen(names[index]);
        list[index].next = index + 1 < count ? &list[index + 1] : NULL;
    }
    return mbedtls_x509write_crt_set_subject_alternative_name(certificate, count == 0 ? NULL : list);
}

static int describe(mbedtls_x509write_cert *certificate, mbedtls_pk_context *key, const char *const *names, size_t count) {
    unsigned char serial[16];
    int result = cmbedtls_random(NULL, serial, sizeof serial);
    if (result != 0) return result;
    // Positive, and not shorter than it seems (RFC 5280 section 4.1.2.2).
    serial[0] = (serial[0] & 0x7f) | 0x40;
    mbedtls_x509write_crt_set_version(certificate, MBEDTLS_X509_CRT_VERSION_3);
    mbedtls_x509write_crt_set_md_alg(certificate, MBEDTLS_MD_SHA256);
    mbedtls_x509write_crt_set_subject_key(certificate, key);
    mbedtls_x509write_crt_set_issuer_key(certificate, key);
    result = mbedtls_x509write_crt_set_serial_raw(certificate, serial, sizeof serial);
    if (result == 0) result = mbedtls_x509write_crt_set_subject_name(certificate, "CN=Tallycam");
    if (result == 0) result = mbedtls_x509write_crt_set_issuer_name(certificate, "CN=Tallycam");
    // The clock may not be set yet, and nothing renews the certificate.
    if (result == 0) result = mbedtls_x509write_crt_set_validity(certificate, "20240101000000", "20731231235959");
    if (result == 0) result = mbedtls_x509write_crt_set_basic_constraints(certificate, 0, -1);
    return result != 0 ? result : set_names(certificate, names, count);
}

int cmbedtls_make_identity(const char *const *names, size_t count, unsigned char *pem, size_t size) {
    mbedtls_pk_context key;
    mbedtls_x509write_cert certificate;
    mbedtls_pk_init(&key);
    mbedtls_x509write_crt_init(&certificate);
    int result = mbedtls_pk_setup(&key, mbedtls_pk_info_from_type(MBEDTLS_PK_ECKEY));
    if (result == 0) result = mbedtls_ecp_gen_key(MBEDTLS_ECP_DP_SECP256R1, mbedtls_pk_ec(key), cmbedtls_random, NULL);
    if (result == 0) result = describe(&certificate, &key, names, count);
    if (result == 0) result = mbedtls_pk_write_key_pem(&key, pem, size);
    if (result == 0) {
        const size_t used = strlen((const char *) pem);
        result = mbedtls_x509write_crt_pem(&certificate, pem + used, size - used, cmbedtls_random, NULL);
    }
    mbedtls_x509write_crt_free(&certificate);
    mbedtls_pk_free(&key);
    return result;
}
