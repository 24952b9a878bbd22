// The Fraunhofer FDK AAC encoder and decoder. They take pointers to pointers, which only C can make of local values. The
// functions here do nothing else.
#ifndef CFDKAAC_H
#define CFDKAAC_H
#include <fdk-aac/aacdecoder_lib.h>
#include <fdk-aac/aacenc_lib.h>

static inline AACENC_ERROR cfdkaac_encode(
    HANDLE_AACENCODER handle, const void *samples, INT sample_count, void *output, INT output_size,
    AACENC_OutArgs *result) {
    void *input = (void *)samples;
    INT input_kind = IN_AUDIO_DATA, output_kind = OUT_BITSTREAM_DATA;
    INT input_size = sample_count > 0 ? sample_count * (INT)sizeof(INT_PCM) : 0;
    INT sample_size = sizeof(INT_PCM), byte_size = 1;
    AACENC_BufDesc source = {1, &input, &input_kind, &input_size, &sample_size};
    AACENC_BufDesc target = {1, &output, &output_kind, &output_size, &byte_size};
    AACENC_InArgs arguments = {sample_count, 0};
    return aacEncEncode(handle, &source, &target, &arguments, result);
}

static inline AAC_DECODER_ERROR cfdkaac_configure(
    HANDLE_AACDECODER handle, const UCHAR *configuration, UINT configuration_size) {
    UCHAR *bytes = (UCHAR *)configuration;
    return aacDecoder_ConfigRaw(handle, &bytes, &configuration_size);
}

// Passes in one packet. Anything the decoder does not accept is dropped.
static inline AAC_DECODER_ERROR cfdkaac_fill(HANDLE_AACDECODER handle, const UCHAR *packet, UINT packet_size) {
    UCHAR *bytes = (UCHAR *)packet;
    UINT left = packet_size;
    return aacDecoder_Fill(handle, &bytes, &packet_size, &left);
}
#endif
