// RapidJSON's SAX reader and writer with a C interface. Makes no decisions: each parse event is passed on with the reader's
// offset, and each write is one call of the writer.
#ifndef CRAPIDJSON_H
#define CRAPIDJSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    CRapidJSONEventNull,
    CRapidJSONEventBool,
    CRapidJSONEventNumber,
    CRapidJSONEventString,
    CRapidJSONEventKey,
    CRapidJSONEventStartObject,
    CRapidJSONEventEndObject,
    CRapidJSONEventStartArray,
    CRapidJSONEventEndArray,
} CRapidJSONEventKind;

typedef struct {
    CRapidJSONEventKind kind;
    // The reader's position: after a value or key, or at the bracket of an object or array.
    size_t offset;
    bool boolean;
    // The text of a number, string or key. Valid during the callback; may contain zero bytes.
    const char *text;
    size_t length;
} CRapidJSONEvent;

// rapidjson::ParseErrorCode.
typedef enum {
    CRapidJSONErrorNone,
    CRapidJSONErrorDocumentEmpty,
    CRapidJSONErrorDocumentRootNotSingular,
    CRapidJSONErrorValueInvalid,
    CRapidJSONErrorObjectMissName,
    CRapidJSONErrorObjectMissColon,
    CRapidJSONErrorObjectMissCommaOrCurlyBracket,
    CRapidJSONErrorArrayMissCommaOrSquareBracket,
    CRapidJSONErrorStringUnicodeEscapeInvalidHex,
    CRapidJSONErrorStringUnicodeSurrogateInvalid,
    CRapidJSONErrorStringEscapeInvalid,
    CRapidJSONErrorStringMissQuotationMark,
    CRapidJSONErrorStringInvalidEncoding,
    CRapidJSONErrorNumberTooBig,
    CRapidJSONErrorNumberMissFraction,
    CRapidJSONErrorNumberMissExponent,
    CRapidJSONErrorTermination,
    CRapidJSONErrorUnspecificSyntaxError,
} CRapidJSONError;

typedef struct {
    CRapidJSONError error;
    size_t offset;
} CRapidJSONResult;

// Parses strict UTF-8 JSON without recursion. A callback that returns false ends it with CRapidJSONErrorTermination.
CRapidJSONResult crapidjson_parse(
    const char *text, size_t length, void *context, bool (*callback)(void *context, const CRapidJSONEvent *event));

typedef struct CRapidJSONWriter CRapidJSONWriter;

// NULL for lack of memory.
CRapidJSONWriter *crapidjson_writer_create(void);
void crapidjson_writer_destroy(CRapidJSONWriter *writer);
// Discards the text and starts a new document.
void crapidjson_writer_reset(CRapidJSONWriter *writer);
const char *crapidjson_writer_text(CRapidJSONWriter *writer);
size_t crapidjson_writer_length(CRapidJSONWriter *writer);
void crapidjson_write_start_object(CRapidJSONWriter *writer);
void crapidjson_write_end_object(CRapidJSONWriter *writer);
void crapidjson_write_start_array(CRapidJSONWriter *writer);
void crapidjson_write_end_array(CRapidJSONWriter *writer);
// UTF-8, as for strings.
void crapidjson_write_key(CRapidJSONWriter *writer, const char *text, size_t length);
void crapidjson_write_string(CRapidJSONWriter *writer, const char *text, size_t length);
void crapidjson_write_integer(CRapidJSONWriter *writer, int64_t value);
// Finite values only.
void crapidjson_write_double(CRapidJSONWriter *writer, double value);
void crapidjson_write_bool(CRapidJSONWriter *writer, bool value);
void crapidjson_write_null(CRapidJSONWriter *writer);

#ifdef __cplusplus
}
#endif

#endif
