import CardStorage
import HTTP
import Media
import Settings

// The description files, read and written for the page.
extension PageDuty {
    func edit(
        _ name: String, _ id: UInt64, now: MediaTimestamp, _ request: (DescriptionKind) -> DescriptionRequest
    ) {
        guard let kind = DescriptionKind(rawValue: name) else {
            return answer(id, .refusal(.notFound, name: "unknownFile", "there is no such file"))
        }
        edit(request(kind), id, now: now)
    }

    func edit(_ request: DescriptionRequest, _ id: UInt64, now: MediaTimestamp) {
        device.card.give(.edit(id, request), now: now)
    }

    /// The card has answered.
    func edited(_ id: UInt64, _ outcome: DescriptionOutcome) { answer(id, .file(outcome)) }
}
