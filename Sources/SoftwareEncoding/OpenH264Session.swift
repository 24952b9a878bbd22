import COpenH264
import Synchronization

/// The library's encoder object: creates, calls and destroys it. Logged errors are kept for error messages; nothing goes to
/// standard error.
final class OpenH264Session {
    private let encoder: UnsafeMutablePointer<ISVCEncoder?>
    private let output: UnsafeMutablePointer<SFrameBSInfo>
    private let log = LibraryLog()
    /// The bitstream of one call, in Annex B format. The library delivers it in pieces.
    private var accessUnit: [UInt8] = []

    init() throws(VideoEncodingError) {
        var created: UnsafeMutablePointer<ISVCEncoder?>?
        let status = WelsCreateSVCEncoder(&created)
        guard status == 0, let created else {
            throw .libraryFailed(call: "WelsCreateSVCEncoder", status: Int(status), reason: nil)
        }
        encoder = created
        output = .allocate(capacity: 1)
        output.initialize(to: SFrameBSInfo())
        redirectLog()
    }

    deinit {
        _ = encoder.pointee?.pointee.Uninitialize(encoder)
        WelsDestroySVCEncoder(encoder)
        output.deinitialize(count: 1)
        output.deallocate()
    }

    /// Set the context first: the library may log as soon as it knows the callback.
    private func redirectLog() {
        var context: UnsafeMutableRawPointer? = Unmanaged.passUnretained(log).toOpaque()
        var callback: WelsTraceCallback? = keepLibraryMessage
        var level = Int32(WELS_LOG_ERROR)
        _ = encoder.pointee?.pointee.SetOption(encoder, ENCODER_OPTION_TRACE_CALLBACK_CONTEXT, &context)
        _ = encoder.pointee?.pointee.SetOption(encoder, ENCODER_OPTION_TRACE_CALLBACK, &callback)
        _ = encoder.pointee?.pointee.SetOption(encoder, ENCODER_OPTION_TRACE_LEVEL, &level)
    }

    /// The library's default settings.
    func defaultParameters() throws(VideoEncodingError) -> SEncParamExt {
        var parameters = SEncParamExt()
        try check("GetDefaultParams", encoder.pointee?.pointee.GetDefaultParams(encoder, &parameters))
        return parameters
    }

    func initialize(_ parameters: SEncParamExt) throws(VideoEncodingError) {
        var parameters = parameters
        try check("InitializeExt", encoder.pointee?.pointee.InitializeExt(encoder, &parameters))
    }

    func setOption<Value: BitwiseCopyable>(
        _ option: ENCODER_OPTION, named name: String, to value: Value
    ) throws(VideoEncodingError) {
        var value = value
        let status = withUnsafeMutablePointer(to: &value) { pointer in
            encoder.pointee?.pointee.SetOption(encoder, option, UnsafeMutableRawPointer(pointer))
        }
        try check("SetOption(\(name))", status)
    }

    /// The parameter sets of the next keyframe, in Annex B format.
    func parameterSets() throws(VideoEncodingError) -> [UInt8] {
        try check("EncodeParameterSets", encoder.pointee?.pointee.EncodeParameterSets(encoder, output))
        collectOutput()
        return accessUnit
    }

    /// Encodes one frame.
    /// - Returns: the access unit, in Annex B format; `nil` if the encoder skipped the frame.
    func encode(_ frame: SSourcePicture) throws(VideoEncodingError) -> [UInt8]? {
        var frame = frame
        try check("EncodeFrame", encoder.pointee?.pointee.EncodeFrame(encoder, &frame, output))
        guard output.pointee.eFrameType != videoFrameTypeSkip else { return nil }
        collectOutput()
        return accessUnit.isEmpty ? nil : accessUnit
    }

    private func collectOutput() {
        accessUnit.removeAll(keepingCapacity: true)
        withUnsafePointer(to: &output.pointee.sLayerInfo) { layers in
            layers.withMemoryRebound(to: SLayerBSInfo.self, capacity: Int(MAX_LAYER_NUM_OF_FRAME)) { layers in
                for index in 0..<max(0, min(Int(output.pointee.iLayerNum), Int(MAX_LAYER_NUM_OF_FRAME))) {
                    append(layers[index])
                }
            }
        }
    }

    private func append(_ layer: SLayerBSInfo) {
        guard let lengths = layer.pNalLengthInByte, let bytes = layer.pBsBuf else { return }
        let byteCount = (0..<max(0, Int(layer.iNalCount))).reduce(0) { $0 + Int(lengths[$1]) }
        accessUnit.append(contentsOf: UnsafeBufferPointer(start: bytes, count: max(0, byteCount)))
    }

    private func check(_ call: String, _ status: Int32?) throws(VideoEncodingError) {
        guard status == Int32(cmResultSuccess.rawValue) else {
            throw .libraryFailed(call: call, status: Int(status ?? -1), reason: log.takeLastMessage())
        }
    }
}

/// The library's latest message. Its worker threads may log too.
private final class LibraryLog: Sendable {
    private let lastMessage = Mutex<String?>(nil)

    func keep(_ message: String) { lastMessage.withLock { $0 = message } }

    func takeLastMessage() -> String? {
        lastMessage.withLock { message in
            defer { message = nil }
            return message
        }
    }
}

private func keepLibraryMessage(
    context: UnsafeMutableRawPointer?, level: Int32, message: UnsafePointer<CChar>?
) {
    guard let context, let message else { return }
    Unmanaged<LibraryLog>.fromOpaque(context).takeUnretainedValue().keep(String(cString: message))
}
