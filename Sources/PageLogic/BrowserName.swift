/// What people call a browser, from the header User-Agent.
package enum BrowserName {
    // The first that is found counts: each browser also names those before it in history.
    private static let browsers = [
        ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"), ("Edg", "Edge"), ("OPR/", "Opera"), ("CriOS/", "Chrome"),
        ("Chrome/", "Chrome"), ("Safari/", "Safari"), ("curl/", "curl"), ("python", "Python"),
    ]
    private static let systems = [
        ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"), ("Mac OS X", "macOS"),
        ("CrOS", "ChromeOS"), ("Linux", "Linux"),
    ]

    package static func of(userAgent: String) -> String {
        let text = Array(userAgent.utf8.prefix(512))
        let browser = browsers.first { holds(text, $0.0) }?.1 ?? "a browser"
        guard let system = systems.first(where: { holds(text, $0.0) })?.1 else { return browser }
        return "\(browser) on \(system)"
    }

    private static func holds(_ text: [UInt8], _ word: String) -> Bool {
        let word = Array(word.utf8)
        guard text.count >= word.count else { return false }
        return (0...text.count - word.count).contains { text[$0...].starts(with: word) }
    }
}
