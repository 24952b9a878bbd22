import Testing
import Transport

private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { (String($0 >> 4, radix: 16)) + String($0 & 15, radix: 16) }.joined()
}

@Suite struct DigestTests {
    // RFC 2202 section 3.
    @Test(arguments: [
        ([UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8), "b617318655057264e28bc0b6fb378c8ef146be00"),
        (Array("Jefe".utf8), Array("what do ya want for nothing?".utf8), "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
        (
            [UInt8](repeating: 0xaa, count: 20), [UInt8](repeating: 0xdd, count: 50),
            "125d7342b9ac11cd91a39af48aa17b4f63f175d3"
        ),
        (Array(1...25), [UInt8](repeating: 0xcd, count: 50), "4c9007f4026250c6bc8414f9bf50c86c2d7235da"),
        (
            [UInt8](repeating: 0x0c, count: 20), Array("Test With Truncation".utf8),
            "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"
        ),
        (
            [UInt8](repeating: 0xaa, count: 80), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "aa4ae5e15272d00e95705637ce8a3b55ed402112"
        ),
        (
            [UInt8](repeating: 0xaa, count: 80),
            Array("Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data".utf8),
            "e8e99d0f45237d786d6bbaa7965c7808bbff1a91"
        ),
    ])
    func authenticatesAsRFC2202(key: [UInt8], message: [UInt8], code: String) {
        #expect(hexadecimal(HMACSHA1.authenticationCode(for: message, key: key)) == code)
    }

    @Test func authenticatesAnEmptyMessageWithAnEmptyKey() {
        #expect(
            hexadecimal(HMACSHA1.authenticationCode(for: [], key: [])) == "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d")
    }

    // RFC 1321 appendix A.5.
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"),
        ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        (
            "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
            "57edf4a22be3c955ac49da2e2107b67a"
        ),
    ])
    func digestsAsRFC1321(message: String, digest: String) {
        #expect(hexadecimal(MD5.digest(of: Array(message.utf8))) == digest)
    }

    @Test func randomBytesDiffer() throws {
        let first = try randomBytes(count: 1528)
        let second = try randomBytes(count: 1528)
        #expect(first.count == 1528)
        #expect(first != second)
        #expect(Set(first).count > 200)
        #expect(try randomBytes(count: 0) == [])
    }
}
