// RapidJSON's SAX reader and writer for callers that speak C. Nothing here decides anything:
// every parse event is handed on with the reader's offset, every write is one call of the writer.
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
    // Where the reader stands: behind a value or key, at the bracket of an object or array.
    size_t offset;
    bool boolean;
    // Of a number, string or key; valid during the callback, may hold zeros.
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

// Parses strict JSON in UTF-8 without recursion. A callback that returns false ends it with CRapidJSONErrorTermination.
CRapidJSONResult crapidjson_parse(
    const char *text, size_t length, void *context, bool (*callback)(void *context, const CRapidJSONEvent *event));

typedef struct CRapidJSONWriter CRapidJSONWriter;

// NULL when memory is short.
CRapidJSONWriter *crapidjson_writer_create(void);
void crapidjson_writer_destroy(CRapidJSONWriter *writer);
// Drops the text and starts a new document.
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
