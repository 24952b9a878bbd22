import Media
import Testing

@testable import RTMP

@Suite("RTMP URL in a session")
struct RTMPURLSessionTests {
    @Test(
        "tcUrl is the URL without credentials and stream",
        arguments: [
            ("rtmp://example.org/live/key", "rtmp://example.org/live"), ("rtmp://h/hub/t?nonce=1", "rtmp://h/hub"),
            ("rtmp://h:1936/app/inst/key", "rtmp://h:1936/app/inst"), ("rtmp://bob:p@h/a/k", "rtmp://h/a"),
            ("rtmps://h:443/rtmp/FB-1?s_bl=1", "rtmps://h/rtmp"), ("rtmps://h:1935/a/k", "rtmps://h:1935/a"),
            ("rtmp://[::1]:19350/a/k", "rtmp://[::1]:19350/a"), ("rtmp://h/live?vhost=v/k", "rtmp://h/live?vhost=v"),
        ])
    func tcURL(text: String, tcURL: String) throws {
        #expect(try RTMPURL(parsing: text).tcURL.revealed == tcURL)
    }

    @Test("Secrets are removed from a server's text")
    func redaction() throws {
        let url = try RTMPURL(parsing: "rtmp://bob:hush1@h/app/mykey?token=SECRET")
        #expect(
            url.redacted("no mykey?token=SECRET, mykey, SECRET or hush1\nhere") == "no ***, ***, *** or *** here")
        #expect(url.redacted(String(repeating: "x", count: 1000)).count == 200)
        // In other spellings, and truncated.
        let signed = try RTMPURL(parsing: "rtmp://h/app/title?nonce=9&token=Qm-NDXzDXxw_SoH8=")
        #expect(signed.redacted("QM-NDXZDXXW_soh8= or Qm-NDXzDXxw_SoH8 or Qm-NDXzDX.") == "*** or *** or ***.")
        #expect(signed.redacted("token%3DQm-NDXzDXxw_SoH8%3D, Qm-NDXz") == "token%3D***, Qm-NDXz")
        #expect(signed.redacted("title%3fnonce%3d9%26token%3dQm-NDXzDXxw_SoH8%3d") == "***")
        var pasted = try RTMPURL(parsingServer: "rtmp://h/app/pasted-key", streamName: "mykey")
        pasted.hidesApplicationPath = true
        #expect(pasted.redacted("no application app/pasted-key here") == "no application app/*** here")
        let password = try RTMPURL(parsing: "rtmp://bob:a%40b%20c@h/app/mykey")
        #expect(password.redacted("a@b c, a%40b%20c") == "***, ***")
        // One character of very many scalars.
        #expect(url.redacted("e" + String(repeating: "\u{301}", count: 1000)).utf8.count <= 400)
        // CSI as one byte of Latin 1, a line separator, a change of direction.
        #expect(url.redacted("a\u{9B}31m\u{2028}\u{202E}b") == "a 31m  b")
    }
}
