import { fold } from "./words.js"

/**
 * Synonyms of customer service: each line is one concept, in English, Ukrainian, Russian, German, Spanish, French and Polish. An entry matches
 * every word that begins with it; with $ only the whole word. Stored vectors and full texts refer to a concept by its line number, so new
 * lines are appended.
 */
const things = `
buy$ buys$ buying bought purchas order$ orders$ ordered ordering куп$ купи купу купл придба покуп замов заказ kauf gekauft bestell compr$ compra pedid achet achat command kupi kupn kupuj zakup zamow
sell$ sells$ selling seller$ sold$ vendor merchant прода verkauf vend sprzeda
price pricing cost fee$ fees$ charg tariff rate$ rates$ expens surcharg ціна ціни ціну вартіст кошту цена цены цену стоимост стоит preis kost$ kosten$ kostet gebuhr precio cuest coste tarif prix cout cena$ ceny$ cene cennik koszt
free$ gratis complimentary waive безкоштовн безоплатн бесплатн kostenlos kostenfrei kostenfrei umsonst gratuit gratuit darmow bezplatn
cheap bargain inexpens lower$ дешев gunstig billig barat economic bon$ tani
deliver ship$ ships$ shipp shipment dispatch courier carrier driver$ postage freight доставк доставл доставит відправ отправ надсила надісла пересил надіс кур'єр курьер liefer versand versend verschick zustell envio envia entreg livr expedi dostaw dostarcz wysyl wysla kurier
parcel packag packet$ consignment carton$ посилк посылк пакун коробк paket packchen sendung paquet colis paczk przesylk
return ruckgab zuruck ruckgeb rucksend retour поверн возврат верну возвращ devol devuel renvo zwrot zwroc zwraca
refund reimburs repay repaid credited відшкодув компенс erstatt ruckerstatt ruckzahl reembols rembours zwrot refundacj
exchang swap replac substitut обмін обмен замін замен umtausch tausch ersetz ersatz canje canjear reemplaz echang remplac wymian wymieni
pay$ pays$ paid$ paying payment transfer$ paypal оплат сплат плат розрахув zahl bezahl pago$ pagos$ pagar paiement payer payez plac$ platnos zaplac
card$ cards$ visa$ mastercard картк карто карта карту kreditkart tarjeta carte$ karta$ karty$ karte kart$
cash$ coin$ coins$ banknote готівк наличн bargeld efectivo espece gotowk
instal rate$ ratenzahl частинами розстроч рассроч plazos mensualit ratach raty$
invoic bill$ bills$ billing рахун счет$ счета rechnung factur faktur rachun
receipt quittung kassenbon kassenzettel beleg$ чек$ чека квитанц recibo recu$ paragon
discount coupon promo rebate reduc sale$ sales$ знижк скидк акці rabatt ermassig angebot descuent rebaja remise solde znizk rabat
voucher gift$ gifts$ present$ presents$ подарун подарок сертифікат gutschein geschenk regalo cadeau prezent podarun
tax$ taxes$ vat$ duty$ duties$ customs$ податк податок пдв$ мито$ мита налог ндс$ пошлин steuer mwst zoll impuesto iva$ aduan taxe tva$ douan podatek podatk clo$
warrant guarante гарант garant gewahrl gwaranc
fault broken$ broke$ break$ breaks$ breaking defect damag snapp crack$ cracked torn$ tore$ malfunction flaw зламан полама пошкодж дефект слома поврежд kaputt defekt schaden beschadig mangel roto$ rota$ averia dano$ cass panne endommag uszkodz zepsu wada$ wady$
repair mend$ mends$ mended mending fix$ fixes$ fixed fixing ремонт лагод полагод почин reparatur reparier werkstatt repara arregl repar napraw
part$ parts$ spare запчаст деталь детал ersatzteil repuesto pieza piece$ pieces$ czesci
stock availab inventor наявн наличи склад verfugbar vorrat lager disponib dostepn magazyn
cancel withdraw revoke відмін скасу відмов отмен отказ stornier widerruf abbestell anula annul cancela odwol anulow rezygn
quit$ quits$ resign terminat leave$ leaves$ leaving unsubscrib звільн вийти уволь kundig dimit baja$ demission resili wypowied
book$ booking reserv appointment slot$ бронюв заброн бронир записат запис termin$ buch$ buchen buchung reserva rendez rezerw
regist enrol sign$ signed$ signup subscrib зареєстр реєстр зарегистр регистр anmeld registrier inscri zapis rejestr
rent$ rents$ rental rented renting hire$ hired hiring lend$ lends$ lending lent$ borrow loan$ leas оренд прокат аренд verleih ausleih ausgelieh leih miet alquil louer location$ wypozycz wynaj
deposit bail$ застав завдат залог kaution anzahl fianza senal$ acompte kaucj zaliczk zadatek
size$ sizes$ bigger larger smaller розмір размер grosse$ grossen talla$ tallas$ taille rozmiar
colour color$ colors$ колір кольор цвет farbe farben couleur kolor
hour open opens opening closed$ close$ closes$ closing shut$ shuts$ графік график розклад відчин працює$ працюєте работает закри відкри откры offnungs geoffnet offen schliess geschlossen horario abre$ abren abiert cierr horaire ouvert ouvr ferm godzin otwart czynn zamkn
expir valid deadline термін дійсн срок годност gultig ablauf frist$ caduc vigen vencim valable waznos
late$ later$ delay overdue belated запізн спізн затрим опозд задерж spat$ spater verspat retras tarde$ tard$ retard spozn opozn
express$ fast$ faster quick urgent rush$ hurry терміново швидк быстр срочн schnell eilig rapid rapide vite$ szybk piln ekspres
begin began begun start$ starts$ started starting found$ founded founder launch почат почина заснув нача основ beginn begann anfang fangt grund gegrund empez comenz inicia fund commenc debut fond zacz rozpocz zaloz
finish ended$ ending stop$ stops$ stopped закінч припин законч прекращ beend endet$ aufhor termin$ acab finir termine$ koncz zakoncz
chang alter$ altered amend modif edit$ змін$ зміни зміню измен поменя ander$ andern modific modifi zmian zmieni
wrong mistak error incorrect помил неправ ошиб falsch fehler irrtum equivoc incorrect erreur faux$ blad$ bledn pomyl
lost$ lose$ losing loss$ mislaid misplac missing forgot forget загуб втра потеря утеря забу verlor verlier vergess perd$ perdi olvid perdu oubli zgub zapomn
stole stolen theft thief thieves robber burglar вкра краді крад украл dieb gestohl raub rob$ robo$ vol$ voler ukradz kradzi
complain complaint unhappy dissatisf compensat скарг жалоб претенз beschwer reklam queja reclam plaint skarg
contact$ contacts$ reach$ phone telephone call$ calls$ ring$ rings$ телефон дзвон зателеф позвон контакт зв'яза связа telefon anruf kontakt erreich llam contact joindre appel zadzwon kontakt
email mail$ mails$ mailbox inbox newsletter пошт$ пошта листа$ розсил почт рассыл e-mail newsletter correo courriel poczt
address locat situated street$ avenue where$ адрес вулиц знаход розташ улиц располож anschrift adress standort befind strasse direccion ubica calle$ adresse rue$ situe adres ulica znajduj siedzib
park$ parking garage стоянк паркув парков parkplatz parken parkhaus aparc estacion stationn parking
car$ cars$ drive$ drives$ driving vehicle automobile mileage kilomet авто$ автомоб машин fahrzeug auto$ autos$ wagen coche$ carro$ voiture samoch
bike bicycl cycl велосип fahrrad bicicl velo$ rower
shop$ shops$ store$ stores$ branch outlet$ retailer dealer магазин крамниц філі відділен filial laden$ geschaft handler tienda sucursal magasin boutique succursal sklep oddzial
company compan firm$ firms$ business corporat enterpris компан фірм підприєм фирм предприят unternehmen firma betrieb empresa negocio entrepris societ przedsieb firmy
customer client$ clients$ buyer shopper клієнт покупець покупц клиент покупател kunde kundin kunden client klient
staff employee colleague worker salesperson personnel crew співробіт працівник персонал сотрудник работник mitarbeit angestellt beschaftigt kolleg personal$ emplead trabajador employe salari pracownik personel
manager supervisor boss$ superior керівник начальн менедж руковод leiter chef$ vorgesetz jefe gerent responsab directeur kierownik szef
salary salaries wage$ wages$ payroll payday paycheck earn зарплат оклад заробіт gehalt lohn$ verdien sueldo salario nomina salaire wynagrodz pensj
vacation holiday leave$ відпуст вихідн свят$ свята отпуск праздн urlaub ferien feiertag vacacion festivo vacances conge$ ferie urlop wakacj swiet
sick$ sickness ill$ illness disease doctor medical physician certificat хвор лікар лікарн болез болен врач больнич krank arzt attest enferm medic malad medecin chor lekarz
child kid$ kids$ boy$ boys$ girl$ girls$ toddler youngster youth дит$ дитя діт$ діти дитин ребен дети детск kind$ kinder nino$ nina$ ninos infan enfant dzieck dzieci
age$ aged$ old$ older$ oldest young younger youngest вік$ віку років возраст старше лет$ alter$ alt$ jahre$ edad$ anos$ age$ ans$ wiek$ lat$
wheelchair disab accessib ramp$ ramps$ step-free інвалід доступн інклюз инвалид rollstuhl barriere behinder discapac silla$ handicap fauteuil wozek niepelnospr
dog dogs pet$ pets$ cat$ cats$ animal собак тварин кіт$ животн hund tier$ tiere haustier perro mascota chien animaux pies$ psa$ zwierz
food$ eat$ eats$ eating meal drink café$ cafe restaurant vegan allerg їжа їжу страв алерг кафе еда$ еды$ essen$ speis getrank comida bebida repas nourr boisson jedzen posil
password passwort login log-in signin пароль пароля логін логин kennwort anmeld contrasena mot-de-passe haslo hasla logow
privacy gdpr data$ personal дані$ даних персональн данные данных datenschutz daten$ datos privacidad donnees dane$ danych prywatn
delet eras$ erase erasing remov видал стерт стира удал losch entfern borr$ borrar elimin supprim effac usun usuwa
camera footage video surveil photo photograph pictur film$ films$ filming camer камер відео знім фото видео снима kamera foto aufnahm uberwach film camara imagen grab image$ images$ zdjec nagran
fire$ fires$ burn alarm evacuat пожеж вогон тривог пожар огонь тревог brand$ feuer alarm fuego incendi feu$ pozar ogien
accident injur hurt$ hurts$ wound casualty нещасн травм поранен несчаст ранен unfall verletz acciden herid blesse wypad$ wypadek obraz
safe$ safer$ safety danger hazard risk$ risks$ risky безпе ризик опасн безопас риск sicher gefahr risiko segur peligr riesg securit danger risque bezpiecz niebezp ryzyk
course class$ classes$ lesson seminar training курс занят урок навчан обучен kurs unterricht schulung curso clase cours$ lecon formation kurs szkolen lekcj
teach teacher instruct guide$ guides$ trainer coach інструкт вчител учител тренер lehrer trainer anleit profesor guia$ moniteur enseign instrukt nauczyc
member club$ clubs$ loyalty membership член$ членств клуб участник mitglied verein socio$ socios miembro membre adherent czlon klub
bonus reward points cashback dividend премі бонус бали баллы bonus pramie punkte puntos recompens prime$ points premi
insur страху страхов versicher segur assuran ubezpiecz
online internet website web$ site$ онлайн інтернет сайт интернет webseite enlinea sitio internetow
account profile login кабінет акаунт профіл кабинет аккаунт konto kundenkonto cuenta compte$ profil konto
clean wash$ washed washing washes launder laundry disinfect saniti прати пран чист мити дезінф стира мыть wasch reinig sauber desinfi limpi lavar nettoy lavage laver czyst prac$ myc$ dezynf
waterproof rain$ rains$ rainy wet$ damp$ soak water водонепрон дощ вода воду мокр дожд wasserdicht regen nass impermeab lluvia agua$ etanche pluie eau$ wodoodp deszcz
dry$ dries$ dried drying dryer tumbl сушит сушк сухи сушить trock secar seco$ secher sech susz
weather storm thunder lightning snow$ wind$ погод гроз сніг шторм снег wetter gewitter sturm schnee clima tormenta nieve meteo orage neige pogod burz snieg
backpack rucksack knapsack pack$ packs$ рюкзак наплічник rucksack mochila sac$ plecak
shoe shoes boot$ boots$ footwear sneaker взутт черевик обув ботин schuh stiefel zapato bota$ botas chaussure botte buty$ butow obuw
cloth clothe garment apparel jacket coat$ coats$ одяг куртк одежд kleid jacke mantel ropa$ chaqueta vetement veste manteau ubran kurtk odziez
lamp torch flashlight headlamp light$ lights$ ліхтар фонар lampe leuchte licht linterna lampara lampe lumiere latark lamp
batter accumulat акумул батаре аккум akku batterie bateria pile$ piles$ baterie
big$ bigger large$ larger bulky oversize велик габарит больш крупн gross$ grosser sperrig grande volumin grand$ gros$ duzy duze
least$ minimum min$ мінім миним mindest minim
most$ maximum max$ limit maximal максим ліміт лимит hochst maxim limit
abroad foreign international country countries countrywide кордон країн іноземн границ страна страны зарубеж ausland land$ lander extranjer pais$ paises etrang pays$ zagranic kraj$
home house$ domestic дім$ дома$ вдома дом$ домой zuhause haus$ nach-hause casa$ hogar maison domicile dom$ domu
monday$ mondays понеділ понедельн montag lunes$ lundi poniedzial
tuesday вівтор вторник dienstag martes mardi wtorek wtork
wednesday серед$ середа среда$ среду mittwoch miercol mercredi srod
thursday четвер donnerstag jueves jeudi czwart
friday пятниц freitag viernes vendredi piatek piatk
saturday субот samstag sonnabend sabado samedi sobot
sunday неділ воскрес sonntag domingo dimanche niedziel
weekend вихідні выходн wochenende finde$ weekend
identity passport licence$ license identif document паспорт посвідч документ удостовер ausweis pass$ identidad pasaporte documento identite passeport dowod paszport
contract agreement договір договор угод vertrag contrat umow
job$ jobs$ vacanc career apply$ applic applying apprentice вакансі робота роботу резюме ваканс работа работу stelle$ bewerb lehrling ausbildung lehre$ empleo trabajo solicit emploi poste$ candidat praca$ prace$ aplik
travel trip$ trips$ journey tourist traveller traveler visitor подорож поїзд турист путешеств поездк reise tourist viaj turista voyag touriste podroz turyst
train$ trains$ railway bus$ buses$ tram transport поїзд$ автобус трамвай поезд zug$ bahn$ strassenbahn tren$ autobus bus$ gare$ pociag autobus
school universit college student pupil школ універ студент учен универс schul universit studier schuler escuela colegio estudiante ecole eleve etudiant szkol uczen student uczel
donat sponsor charit volunteer пожертв благод волонт спонсор спонсир spend$ spende sponsor ehrenamt donac benefic voluntar don$ dons$ benevol darowi sponsor wolontar
together$ meet$ meeting gather assembl збор зібран зустріч собра встреч versammel treff sammel reun reunion rassembl spotka zbior
harass bully discriminat abus булінг дискрим преслід преслед belastig mobbing acoso harcel nekan
confiden secret silence анонім таємн аноним тайн vertraulich geheim anonym confiden secret poufn tajem
phish scam$ fraud spam$ шахра спам мошен betrug phishing estafa arnaque oszust
comput laptop notebook pc$ device комп ноутб пристр компьют устройств rechner gerat ordenador dispositiv ordinat appareil komput urzadz
machine apparatus машина$ верстат maschine maquina machine maszyn
heavy weigh kilo$ kilos$ вага$ важк вес$ тяжел gewicht schwer$ peso$ pesad poids lourd waga$ wage$ ciez
limit restrict prohibit forbid forbidden ban$ bans$ banned заборон огранич запрещ запрет verbot verboten prohib interdi zakaz zabron
allow permit permission дозвол можна разреш erlaub darf$ durfen permit permiso autoris permis wolno pozwol
cut$ cuts$ scissor knife knives blade ніж$ ножі лез нож$ ножи messer klinge cuchill couteau lame$ noz$ noze ostrz
logo$ logos$ embroider print$ prints$ printed printing engrav друк вишив логотип печат вышив druck bestick gravur impri$ imprim bordar brod imprim druk haft nadruk
tent$ tents$ camp$ camping намет кемп палатк zelt tienda-de tente$ namiot
zip$ zips$ zipper блискавк молни reissverschluss cremaller eclair zamek$ suwak
`

/** Concept numbers by prefix; whole words end in $. */
const known = new Map<string, number[]>()
for (const [thing, line] of things.trim().split("\n").entries()) {
  for (const beginning of new Set(fold(line).split(/\s+/))) known.set(beginning, [...(known.get(beginning) ?? []), thing])
}

/** The concept numbers of a folded word, by its longest known prefix; empty for most words. */
export function thingsOf(word: string): readonly number[] {
  const whole = known.get(`${word}$`)
  if (whole) return whole
  for (let length = word.length; length > 2; length--) {
    const found = known.get(word.slice(0, length))
    if (found) return found
  }
  return []
}
