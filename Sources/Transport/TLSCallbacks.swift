import CMbedTLS
import LinuxIO

// Callbacks from Mbed TLS, on the connection's thread.

func noteCertificate(
    _ verdict: UnsafeMutableRawPointer?, _ certificate: UnsafeMutablePointer<mbedtls_x509_crt>?, _ depth: Int32,
    _ flags: UnsafeMutablePointer<UInt32>?
) -> Int32 {
    guard let verdict, let certificate, let flags else { return MBEDTLS_ERR_X509_FATAL_ERROR }
    Unmanaged<CertificateVerdict>.fromOpaque(verdict).takeUnretainedValue()
        .certificateChecked(certificate.pointee, depth: depth, flags: flags.pointee)
    return 0
}

/// - Parameters:
///   - secret: the session secret; not used here.
///   - serverRandom: 32 bytes. In TLS 1.2, the last bytes carry a mark if the server supports TLS 1.3.
func noteServerRandom(
    _ owner: UnsafeMutableRawPointer?, _ kind: mbedtls_ssl_key_export_type, _ secret: UnsafePointer<UInt8>?,
    _ secretCount: Int, _ clientRandom: UnsafePointer<UInt8>?, _ serverRandom: UnsafePointer<UInt8>?,
    _ function: mbedtls_tls_prf_types
) {
    guard let owner, let serverRandom else { return }
    let mark = UnsafeBufferPointer(start: serverRandom, count: 32).suffix(8)
    Unmanaged<TLSConnection>.fromOpaque(owner).takeUnretainedValue()
        .serverSpeaksTLS13 = mark.elementsEqual("DOWNGRD\u{1}".utf8)
}

func sendThroughSocket(
    _ owner: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, _ count: Int
) -> Int32 {
    guard let owner else { return MBEDTLS_ERR_NET_INVALID_CONTEXT }
    return Unmanaged<TLSConnection>.fromOpaque(owner).takeUnretainedValue()
        .send(UnsafeRawBufferPointer(start: bytes, count: count))
}

func receiveThroughSocket(
    _ owner: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int
) -> Int32 {
    guard let owner else { return MBEDTLS_ERR_NET_INVALID_CONTEXT }
    return Unmanaged<TLSConnection>.fromOpaque(owner).takeUnretainedValue()
        .receive(into: UnsafeMutableRawBufferPointer(start: bytes, count: count))
}

extension TLSConnection {
    func send(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        do {
            let count = try withUnsafePointer(to: bytes) { slice in
                Result { () throws(TransportError) in try tcp.write(UnsafeBufferPointer(start: slice, count: 1)) }
            }.get()
            return count == 0 ? MBEDTLS_ERR_SSL_WANT_WRITE : Int32(clamping: count)
        } catch {
            socketFailure = error
            return MBEDTLS_ERR_NET_SEND_FAILED
        }
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int32 {
        do {
            switch try tcp.read(into: buffer) {
            case .bytes(let count):
                firstByte = firstByte ?? buffer.first
                return Int32(clamping: count)
            case .wouldBlock: return MBEDTLS_ERR_SSL_WANT_READ
            case .closed: return 0
            }
        } catch {
            socketFailure = error
            return MBEDTLS_ERR_NET_RECV_FAILED
        }
    }
}
