#include "CRapidJSON.h"

#include <new>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

static_assert(int(CRapidJSONErrorUnspecificSyntaxError) == int(rapidjson::kParseErrorUnspecificSyntaxError),
              "the error codes are RapidJSON's, in its order");
static_assert(int(CRapidJSONErrorStringEscapeInvalid) == int(rapidjson::kParseErrorStringEscapeInvalid),
              "the error codes are RapidJSON's, in its order");

namespace {

struct Forwarder {
    rapidjson::MemoryStream &stream;
    void *context;
    bool (*callback)(void *, const CRapidJSONEvent *);

    CRapidJSONEvent event(CRapidJSONEventKind kind) const {
        CRapidJSONEvent event = {};
        event.kind = kind;
        event.offset = stream.Tell();
        return event;
    }

    bool send(const CRapidJSONEvent &event) { return callback(context, &event); }

    bool text(CRapidJSONEventKind kind, const char *text, rapidjson::SizeType length) {
        CRapidJSONEvent event = this->event(kind);
        event.text = text;
        event.length = length;
        return send(event);
    }

    bool Null() { return send(event(CRapidJSONEventNull)); }
    bool Bool(bool value) {
        CRapidJSONEvent event = this->event(CRapidJSONEventBool);
        event.boolean = value;
        return send(event);
    }
    // Numbers arrive as text; see the flags below.
    bool Int(int) { return false; }
    bool Uint(unsigned) { return false; }
    bool Int64(int64_t) { return false; }
    bool Uint64(uint64_t) { return false; }
    bool Double(double) { return false; }
    bool RawNumber(const char *text, rapidjson::SizeType length, bool) {
        return this->text(CRapidJSONEventNumber, text, length);
    }
    bool String(const char *text, rapidjson::SizeType length, bool) {
        return this->text(CRapidJSONEventString, text, length);
    }
    bool Key(const char *text, rapidjson::SizeType length, bool) {
        return this->text(CRapidJSONEventKey, text, length);
    }
    bool StartObject() { return send(event(CRapidJSONEventStartObject)); }
    bool EndObject(rapidjson::SizeType) { return send(event(CRapidJSONEventEndObject)); }
    bool StartArray() { return send(event(CRapidJSONEventStartArray)); }
    bool EndArray(rapidjson::SizeType) { return send(event(CRapidJSONEventEndArray)); }
};

}  // namespace

CRapidJSONResult crapidjson_parse(
    const char *text, size_t length, void *context, bool (*callback)(void *, const CRapidJSONEvent *)) {
    rapidjson::MemoryStream stream(text, length);
    Forwarder forwarder{stream, context, callback};
    rapidjson::Reader reader;
    // Not kParseFullPrecisionFlag: with 45 digits and exponent -368, RapidJSON reads past its table of powers.
    const unsigned flags = rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag |
                           rapidjson::kParseValidateEncodingFlag;
    const rapidjson::ParseResult result = reader.Parse<flags>(stream, forwarder);
    // On success, the offset is where the reader stopped: it takes a zero byte for the end of the text.
    return {CRapidJSONError(result.Code()), result.IsError() ? result.Offset() : stream.Tell()};
}

struct CRapidJSONWriter {
    rapidjson::StringBuffer buffer;
    rapidjson::Writer<rapidjson::StringBuffer> writer{buffer};
};

CRapidJSONWriter *crapidjson_writer_create(void) { return new (std::nothrow) CRapidJSONWriter; }
void crapidjson_writer_destroy(CRapidJSONWriter *writer) { delete writer; }
void crapidjson_writer_reset(CRapidJSONWriter *writer) {
    writer->buffer.Clear();
    writer->writer.Reset(writer->buffer);
}
const char *crapidjson_writer_text(CRapidJSONWriter *writer) { return writer->buffer.GetString(); }
size_t crapidjson_writer_length(CRapidJSONWriter *writer) { return writer->buffer.GetSize(); }
void crapidjson_write_start_object(CRapidJSONWriter *writer) { writer->writer.StartObject(); }
void crapidjson_write_end_object(CRapidJSONWriter *writer) { writer->writer.EndObject(); }
void crapidjson_write_start_array(CRapidJSONWriter *writer) { writer->writer.StartArray(); }
void crapidjson_write_end_array(CRapidJSONWriter *writer) { writer->writer.EndArray(); }
void crapidjson_write_key(CRapidJSONWriter *writer, const char *text, size_t length) {
    writer->writer.Key(text, rapidjson::SizeType(length));
}
void crapidjson_write_string(CRapidJSONWriter *writer, const char *text, size_t length) {
    writer->writer.String(text, rapidjson::SizeType(length));
}
void crapidjson_write_integer(CRapidJSONWriter *writer, int64_t value) { writer->writer.Int64(value); }
void crapidjson_write_double(CRapidJSONWriter *writer, double value) { writer->writer.Double(value); }
void crapidjson_write_bool(CRapidJSONWriter *writer, bool value) { writer->writer.Bool(value); }
void crapidjson_write_null(CRapidJSONWriter *writer) { writer->writer.Null(); }
