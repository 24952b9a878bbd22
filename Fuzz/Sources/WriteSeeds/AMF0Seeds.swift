import RTMP

enum AMF0Seeds {
    static let all: [Seed] = [
        Seed(name: "every-kind", bytes: bytes(everyKind)),
        Seed(name: "nested", bytes: bytes([nested(depth: 12)])),
        Seed(name: "long-string", bytes: [0x0C, 0, 0, 0, 4] + Array("long".utf8)),
        Seed(name: "array-of-a-wrong-count", bytes: [0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0, 1, 0x61, 5, 0, 0, 9]),
        Seed(name: "text-that-is-no-utf8", bytes: [0x02, 0, 4, 0xF0, 0x9F, 0x80, 0xC3]),
        Seed(name: "connect", bytes: connect.message().payload),
        Seed(name: "connect-as-amf3", bytes: [0] + connect.message().payload),
        Seed(name: "result", bytes: result.message().payload),
        Seed(name: "metadata", bytes: bytes([.string("@setDataFrame"), .string("onMetaData"), metadata])),
    ]

    static let connect = Command(
        "connect", transactionID: 1,
        object: .object([
            AMF0Property("app", .string("live")), AMF0Property("type", .string("nonprivate")),
            AMF0Property("flashVer", .string("FMLE/3.0 (compatible; Tallycam)")),
            AMF0Property("tcUrl", .string("rtmp://example.org/live")), AMF0Property("fpad", .boolean(false)),
            AMF0Property("fourCcList", .strictArray([.string("avc1"), .string("hvc1")])),
        ]))

    static let result = Command(
        "_result", transactionID: 1,
        object: .object([
            AMF0Property("fmsVer", .string("FMS/3,0,1,123")), AMF0Property("capabilities", .number(31)),
        ]),
        arguments: [
            .object([
                AMF0Property("level", .string("status")),
                AMF0Property("code", .string("NetConnection.Connect.Success")),
                AMF0Property("description", .string("Connection succeeded.")),
                AMF0Property("data", .ecmaArray([AMF0Property("version", .string("3,5,7,7009"))])),
            ])
        ])

    static let metadata = AMF0Value.ecmaArray([
        AMF0Property("width", .number(640)), AMF0Property("height", .number(480)),
        AMF0Property("videocodecid", .number(7)), AMF0Property("audiocodecid", .number(10)),
        AMF0Property("stereo", .boolean(true)), AMF0Property("encoder", .string("Tallycam")),
    ])

    private static let everyKind: [AMF0Value] = [
        .number(1.5), .boolean(true), .string("text"), .object([AMF0Property("name", .null)]), .undefined,
        .reference(1), .ecmaArray([AMF0Property("", .string(""))]), .strictArray([.number(0), .strictArray([])]),
        .date(milliseconds: 1.7e12, timeZone: -60), .unsupported, .xmlDocument("<a/>"),
        .typedObject(className: "Class", [AMF0Property("x", .number(-0.0))]),
    ]

    private static func nested(depth: Int) -> AMF0Value {
        depth == 0 ? .null : .object([AMF0Property("a", .strictArray([nested(depth: depth - 2)]))])
    }

    private static func bytes(_ values: [AMF0Value]) -> [UInt8] {
        values.reduce(into: []) { $0.appendAMF0($1) }
    }
}
