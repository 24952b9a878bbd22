import Media

/// When `tallycam receive` accepts connections: not while there are too many, and not for a while after it could not.
struct Admission {
    static let mostConnections = 32
    /// Bounds a turn of the receiver's loop, however many connections wait.
    static let mostPerTurn = 8
    private static let pause = Duration.seconds(1)

    enum Obstacle: Hashable {
        case tooManyConnections, failure
    }

    /// No connection is accepted before this time.
    private var resumeTime = MediaTimestamp.zero
    private var reported: Set<Obstacle> = []

    mutating func pause(until time: MediaTimestamp) { resumeTime = time }

    func isOpen(connectionCount: Int, now: MediaTimestamp) -> Bool {
        connectionCount < Self.mostConnections && now >= resumeTime
    }

    /// When it opens again by itself; `nil` if it is open, or only the end of a connection opens it.
    func nextTime(connectionCount: Int, now: MediaTimestamp) -> MediaTimestamp? {
        connectionCount < Self.mostConnections && now < resumeTime ? resumeTime : nil
    }

    /// - Returns: whether to report it: once, until no connection waits any more.
    mutating func stopped(by obstacle: Obstacle, now: MediaTimestamp) -> Bool {
        if obstacle == .failure { resumeTime = now + Self.pause }
        return reported.insert(obstacle).inserted
    }

    /// The resources of a connection are available again.
    mutating func connectionEnded() { resumeTime = .zero }

    mutating func lastWaitingAccepted() { reported = [] }
}
