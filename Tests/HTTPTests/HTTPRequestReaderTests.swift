import SeededNumbers
import Testing

@testable import HTTP

@Suite("Reading HTTP requests")
struct HTTPRequestReaderTests {
    private typealias Limits = HTTPRequestReader.Limits

    @Test("Several requests in one portion")
    func pipelined() {
        let read = readRequests(
            """
            POST /start HTTP/1.1
            Host: a
            Content-Length: 5

            helloGET /status HTTP/1.1
            Host: a

            PUT /empty HTTP/1.1
            Host: a
            Content-Length: 0

            """ + "\nGET")
        #expect(read.error == nil)
        #expect(read.requests.map(\.path) == ["/start", "/status", "/empty"])
        #expect(read.requests.map(\.body) == [Array("hello".utf8), [], []])
    }

    @Test("A body contains any bytes")
    func body() {
        let body = (0...255).map { UInt8($0) }
        let read = readRequests(wire("PUT / HTTP/1.1\nHost: a\nContent-Length: 0256\n\n") + body)
        #expect(read.requests.map(\.body) == [body])
    }

    @Test("One empty line before a request is ignored, a second one is not")
    func emptyLines() {
        let request = "GET / HTTP/1.1\nHost: a\n\n"
        #expect(readRequests("\n" + request + "\n" + request).requests.count == 2)
        #expect(readRequests("\n\n" + request).error == .malformedRequestLine)
    }

    @Test("The head can be refused before the body comes")
    func headFirst() throws {
        var reader = HTTPRequestReader()
        reader.receive(wire("PUT /files HTTP/1.1\nHost: a\nContent-Length: 3\n"))
        #expect(try reader.next() == nil)
        #expect(reader.head == nil && reader.isWithinRequest)
        reader.receive(wire("\nab"))
        #expect(try reader.next() == nil)
        #expect(reader.head?.path == "/files" && reader.head?.body == [])
        reader.receive(wire("c"))
        let request = try reader.next()
        #expect(request?.body == Array("abc".utf8))
        #expect(reader.head == nil && !reader.isWithinRequest && reader.bufferedByteCount == 0)
    }

    @Test("A client that waits for permission gets it once, and only for a body")
    func expectation() throws {
        var reader = HTTPRequestReader()
        reader.receive(wire("PUT / HTTP/1.1\nHost: a\nContent-Length: 2\nExpect: 100-Continue\n\n"))
        #expect(try reader.next() == nil)
        let (first, second) = (reader.takeContinue(), reader.takeContinue())
        #expect(first && !second)
        reader.receive(wire("ab"))
        #expect(try reader.next() != nil)

        for text in [
            "GET / HTTP/1.1\nHost: a\nExpect: 100-continue\n\n",
            "PUT / HTTP/1.0\nHost: a\nContent-Length: 2\nExpect: x\n\n",
        ] {
            reader.receive(wire(text))
            _ = try reader.next()
            let waits = reader.takeContinue()
            #expect(!waits)
        }
    }

    @Test("After an error, the reader returns only that error")
    func errorStays() throws {
        var reader = HTTPRequestReader()
        reader.receive(wire("GET / HTTP/1.1\nHost: a\n\nnonsense\n"))
        #expect(try reader.next() != nil)
        for _ in 0..<2 {
            #expect(throws: HTTPRequestError.malformedRequestLine) { try reader.next() }
            reader.receive(wire("GET / HTTP/1.1\nHost: a\n\n"))
            #expect(reader.bufferedByteCount == 0)
        }
    }

    @Test("The bytes after an upgrade belong to the next protocol")
    func remainder() throws {
        var reader = HTTPRequestReader()
        reader.receive(wire("GET / HTTP/1.1\nHost: a\nUpgrade: websocket\nConnection: Upgrade\n\n") + [0x81, 0x80])
        let upgrade = try reader.next()
        #expect(upgrade?.isWebSocketUpgrade == true)
        let (rest, nothing) = (reader.takeRemainder(), reader.takeRemainder())
        #expect(rest == [0x81, 0x80] && nothing == [])
    }

    @Test("Each limit is exact, and its error says which one it is")
    func limits() {
        let line = "GET /abcdef HTTP/1.1\n"
        let head = line + "Host: a\nX: y\n\n"
        let byteCount = wire(head).count
        #expect(readRequests(head, limits: Limits(headByteCount: byteCount)).error == nil)
        #expect(
            readRequests(head, limits: Limits(headByteCount: byteCount - 1)).error
                == .headersTooLong(limit: byteCount - 1))
        let lineByteCount = wire(line).count
        #expect(
            readRequests(head, limits: Limits(headByteCount: lineByteCount - 1)).error
                == .requestLineTooLong(limit: lineByteCount - 1))
        #expect(readRequests(head, limits: Limits(headerCount: 2)).error == nil)
        #expect(readRequests(head, limits: Limits(headerCount: 1)).error == .tooManyHeaders(limit: 1))
        let put = "PUT / HTTP/1.1\nHost: a\nContent-Length: 3\n\nabc"
        #expect(readRequests(put, limits: Limits(bodyByteCount: 3)).error == nil)
        #expect(readRequests(put, limits: Limits(bodyByteCount: 2)).error == .bodyTooLong(limit: 2))
    }

    @Test("An endless line is refused at the limit")
    func endlessLine() {
        let long = [UInt8](repeating: UInt8(ascii: "a"), count: 9000)
        #expect(readRequests(long).error?.status == .targetTooLong)
        #expect(readRequests(wire("GET / HTTP/1.1\nX: ") + long).error?.status == .headersTooLarge)
        #expect(
            readRequests("GET / HTTP/1.1\n" + String(repeating: "X: y\n", count: 65)).error?.status == .headersTooLarge)
    }

    @Test("Ten thousand requests arrive byte by byte behind one that waits")
    func manyRequests() throws {
        // In quadratic time, this would take hours.
        var reader = HTTPRequestReader()
        let request = wire("PUT / HTTP/1.1\nHost: a\nContent-Length: 9\n\n123456789")
        for _ in 0..<10_000 { reader.receive(request) }
        var count = 0
        while try reader.next() != nil { count += 1 }
        for byte in request + request {
            reader.receive([byte])
            if try reader.next() != nil { count += 1 }
        }
        #expect(count == 10_002 && reader.bufferedByteCount == 0)
    }

    @Test("Damaged requests give the same result however they are split")
    func damaged() {
        var numbers = SeededGenerator(seed: 37)
        let sound = wire(
            "POST /a%20b?c=d HTTP/1.1\nHost: a\nCookie: k=v\nContent-Length: 4\n\nabcdGET / HTTP/1.1\nHost: a\n\n")
        let special = Array("\r\n :;,=%/?#\"\\\0\t0".utf8)
        var errors: Set<HTTPRequestError> = []
        for _ in 0..<300 {
            var bytes = sound
            for _ in 0..<Int.random(in: 1...3, using: &numbers) {
                let place = Int.random(in: 0..<bytes.count, using: &numbers)
                let byte = special.randomElement(using: &numbers) ?? 0
                switch Int.random(in: 0..<3, using: &numbers) {
                case 0: bytes[place] = byte
                case 1: bytes.insert(byte, at: place)
                default: bytes.remove(at: place)
                }
            }
            let read = readRequests(bytes)
            if let error = read.error { errors.insert(error) }
        }
        #expect(errors.count > 8, "the damage had too little effect")
    }
}
