import { criteriaOf } from './users.service.js';

describe('Criteria of a user search', () => {
  it('looks an id up', () => {
    const id = 'usr_01h455vb4pex5vsknk084sn02q';
    expect(criteriaOf(id)).toEqual({ id });
  });

  it.each(['+14155550101', '+1 (415) 555-0101'])('looks the phone number %s up', (text) => {
    expect(criteriaOf(text)).toEqual({ phone: '+14155550101', externalId: text });
  });

  it('searches four digits at the end of phone numbers, too', () => {
    expect(criteriaOf('0101')).toEqual({ externalId: '0101', namePart: '0101', phoneEnd: '0101' });
  });

  it.each(['Ana', 'm-1017', '101', '01010', '+1', 'usr_ana', '% _'])(
    'searches "%s" as an external id and in names',
    (text) => {
      expect(criteriaOf(text)).toEqual({ externalId: text, namePart: text });
    },
  );
});
