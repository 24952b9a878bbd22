import CLinux
import CMbedTLS
import Glibc
import LinuxIO

/// HMAC-SHA-1 (RFC 2104), used to sign publish URLs.
public enum HMACSHA1 {
    /// - Returns: 20 bytes.
    public static func authenticationCode(for message: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 20)
        mbedtls_md_hmac(
            mbedtls_md_info_from_type(MBEDTLS_MD_SHA1), key, key.count, message, message.count, &code)
        return code
    }
}

/// MD5 (RFC 1321), required by two RTMP publisher authentication schemes. Not for anything new.
public enum MD5 {
    /// - Returns: 16 bytes.
    public static func digest(of message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 16)
        mbedtls_md(mbedtls_md_info_from_type(MBEDTLS_MD_MD5), message, message.count, &digest)
        return digest
    }
}

/// SHA-1 (RFC 3174), required by the handshake of WebSocket. Not for anything new.
public enum SHA1 {
    /// - Returns: 20 bytes.
    public static func digest(of message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 20)
        mbedtls_md(mbedtls_md_info_from_type(MBEDTLS_MD_SHA1), message, message.count, &digest)
        return digest
    }
}

/// SHA-256 (FIPS 180-4).
public enum SHA256 {
    /// - Returns: 32 bytes.
    public static func digest(of message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        mbedtls_md(mbedtls_md_info_from_type(MBEDTLS_MD_SHA256), message, message.count, &digest)
        return digest
    }
}

/// Cryptographically secure random bytes from the kernel (getrandom(2)). Waits for the kernel's first entropy, which can take
/// seconds right after boot.
public func randomBytes(count: Int) throws(SystemCallError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
        let result = bytes.withUnsafeMutableBytes { buffer in
            retryingInterrupted {
                getrandom(buffer.baseAddress.map { $0 + filled }, buffer.count - filled, 0)
            }
        }
        guard result > 0 else { throw SystemCallError("getrandom") }
        filled += result
    }
    return bytes
}
