import HTTP

/// Where people open the page.
package enum PageAddresses {
    /// - Parameters:
    ///   - host: where the server listens, as a numeric address.
    ///   - name: the device's in the network, without `.local`.
    ///   - own: the device's addresses.
    /// - Returns: URLs, the best for people first.
    package static func urls(
        _ scheme: HTTPScheme, listeningOn host: String, port: UInt16, name: String, own: [String]
    ) -> [String] {
        // No browser can open the address that stands for all.
        let hosts = ["0.0.0.0", "::"].contains(host) ? ["\(name).local"] + own : [host]
        return hosts.map { host in
            "\(scheme)://" + (host.contains(":") ? "[\(host)]" : host) + (port == scheme.defaultPort ? "" : ":\(port)")
        }
    }
}
