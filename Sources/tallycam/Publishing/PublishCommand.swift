import LinuxIO

/// `tallycam publish`.
func runPublish(_ arguments: [String]) throws -> ExitStatus {
    guard let parsed = try parseOptions(arguments, PublishOptions.options, usage: PublishOptions.usage) else {
        return .success
    }
    let options = try PublishOptions(parsed)
    let console = try Console(eventStyle: try eventStyle(parsed))
    defer { console.finish() }
    for warning in options.warnings { console.log("warning: \(warning)") }
    do {
        if let path = options.flvPath {
            return try FilePublisher(path: path, options: options, console: console).run()
        }
        return try LivePublisher(options: options, console: console).run()
    } catch {
        let failure = CommandFailure(error)
        console.show(view: [])
        console.emit(.failed(code: failure.code, message: failure.message))
        throw failure
    }
}
