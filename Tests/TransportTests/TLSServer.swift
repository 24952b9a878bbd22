import Glibc
import LinuxIO

@testable import Transport

/// Certificates for one test run: an authority and server certificates that it signed, each with one flaw.
final class TestCertificates: Sendable {
    let directory: String
    /// Shared by all tests of the process and removed at its end.
    static let shared: Result<TestCertificates, any Error> = Result {
        let certificates = try TestCertificates()
        atexit { try? shell("rm -r \(TestCertificates.shared.get().directory)") }
        return certificates
    }

    var authority: String { directory + "/ca.crt" }

    private init() throws {
        var template = Array("/tmp/tallycam-tls-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemCallError("mkdtemp") }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try shell(
            """
            cd \(directory); exec 2> log
            openssl ecparam -name prime256v1 -genkey -noout -out key
            openssl req -x509 -key key -subj '/CN=Test Authority' -out ca.crt -not_before 20200101000000Z \
                -not_after 20400101000000Z -addext basicConstraints=critical,CA:TRUE -addext keyUsage=keyCertSign
            server() {
                openssl req -x509 -CA ca.crt -CAkey key -key key -subj "/CN=$1" -out $1.crt \
                    -not_before $3 -not_after $4 -addext "subjectAltName=$2"
            }
            server good DNS:localhost,DNS:*.live.example,IP:127.0.0.1,IP:::1 20200101000000Z 20400101000000Z
            server expired DNS:localhost 20200101000000Z 20210102030405Z
            server future DNS:localhost 20390102030405Z 20400101000000Z
            server otherhost DNS:other.example,IP:192.0.2.1 20200101000000Z 20400101000000Z
            openssl req -x509 -CA ca.crt -CAkey key -key key -subj /CN=clientonly -out clientonly.crt \
                -not_before 20200101000000Z -not_after 20400101000000Z -addext subjectAltName=DNS:localhost \
                -addext extendedKeyUsage=clientAuth
            openssl genrsa -out rsakey 2048
            for end in 20400101000000Z 20210102030405Z; do
                openssl req -x509 -CA ca.crt -CAkey key -key rsakey -subj /CN=rsa -out rsa-$end.crt \
                    -not_before 20200101000000Z -not_after $end -addext subjectAltName=DNS:localhost
            done
            mv rsa-20400101000000Z.crt rsa.crt; mv rsa-20210102030405Z.crt rsa-expired.crt
            openssl req -x509 -key key -subj /CN=localhost -addext subjectAltName=DNS:localhost -out selfsigned.crt
            """)
    }
}

/// `openssl s_server` on 127.0.0.1.
final class TLSServer {
    let endpoint: Endpoint
    let process: ChildProcess

    /// - Parameter options: further options of s_server, for example `-tls1_2`. Certificates named `rsa` have an RSA key.
    init(certificate: String, host: String = "localhost", _ options: [String] = []) throws {
        let directory = try TestCertificates.shared.get().directory
        // s_server reports the port it got.
        process = try ChildProcess(
            [
                "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", "\(directory)/\(certificate).crt",
                "-key", "\(directory)/\(certificate.hasPrefix("rsa") ? "rsa" : "")key",
            ] + options, capturesOutput: true)
        try process.waitForOutput("ACCEPT 127.0.0.1:")
        endpoint = Endpoint(host: host, port: try process.readNumber())
    }
}

extension ChildProcess {
    /// Reads the next number and the end of its line.
    func readNumber() throws -> UInt16 {
        var digits = ""
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1, byte != 10 { digits.append(Character(UnicodeScalar(byte))) }
        guard let number = UInt16(digits) else { throw SupportFailure(what: "no number: \(digits)") }
        return number
    }
}
